import { type SettingDefinition, settingDefinitions } from '@kith/protocol'
import { describeType } from '../../packages/server/src/features/settings/index.ts'
import type { Page } from './page.ts'

const introduction = `# Settings

Generated from the table in \`packages/protocol/src/settings/definitions.ts\` by \`npm run docs\`; change it there.

Settings are read and changed while the server runs, with \`/api/settings\` or on the command line (\`kith settings list\`, \`get\`, \`set\`,
\`reset\`, for one tenant with \`--tenant\`). The value that holds is the tenant's own, else
the global one, else the default. Another process sees a change within five seconds.

- A *tenant* setting is the owner's to change with \`PUT /api/settings/{name}\`. An administrator sets what holds for all
  tenants that have no value of their own with \`?scope=global\`, on the base tenant's host.
- A *global* setting is an administrator's, on the base tenant's host; where it says so, the owner's of the base tenant alone.
  The command line sets it for one tenant too (\`kith settings set limits.max_storage_gb 50 --tenant alice.example.com\`),
  but for those of the whole server.
- A *system* setting is part of the program.
- Any further name under \`ui.\` and \`app.\` is free for clients: any JSON value, at most 500 names and 1 MiB for each
  tenant, seen by nobody but its owner.

Changes by an administrator stand in the audit trail of the base tenant, without the value. Secrets can be set, not read.
What is needed before the database can be opened is in the [configuration](configuration.md).
`

const headings = {
  tenant: 'Settings of a tenant',
  global: 'Settings of the server',
  system: 'Settings of the program',
}

/** The page for operators and owners about every defined setting. */
export const settingsPage: Page = {
  path: 'docs/operations/settings.md',
  render() {
    const scopes = ['tenant', 'global', 'system'] as const
    return [introduction, ...scopes.map((scope) => section(scope))].join('\n')
  },
}

function section(scope: SettingDefinition['scope']): string {
  const rows = Object.entries<SettingDefinition>(settingDefinitions).filter(([, row]) => row.scope === scope)
  const lines = rows.map(
    ([name, row]) =>
      `| \`${name}\` | ${describeType(row, quote)} | \`${JSON.stringify(row.default)}\` | ${meaningOf(row)} |`,
  )
  const head = ['| Setting | Type | Default | Meaning |', '|---|---|---|---|']
  return [`## ${headings[scope]}`, '', ...head, ...lines, ''].join('\n')
}

const quote = (choice: string) => `\`${choice}\``

function meaningOf(definition: SettingDefinition): string {
  const { sentence, isSecret, isAdminOnly, isServerWide, isOwnerOnly } = definition
  const marks = [
    isServerWide ? '*Whole server.*' : '',
    isSecret ? '*Secret.*' : '',
    isAdminOnly && !isSecret ? '*Seen by administrators.*' : '',
    isOwnerOnly ? '*Set by the owner of the base tenant.*' : '',
  ]
  return [sentence, ...marks].filter((part) => part !== '').join(' ')
}
