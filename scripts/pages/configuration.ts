import { type Variable, variables } from '../../packages/server/src/infra/config/index.ts'
import type { Page } from './page.ts'

const introduction = `# Configuration

Generated from the table in \`packages/server/src/infra/config/variables.ts\` by \`npm run docs\`; change it there.

The server reads these variables from its environment and from a file \`.env\` in its working directory. The environment
wins; an empty value means the default. Nothing is required: the defaults make a local server. Relative paths begin at the
working directory, lists are separated by commas. A start with wrong values tells all of them at once and exits with 1.

\`npx kith config\` shows what the server makes of its environment, with secrets hidden. Variables marked *secret* are never
logged. Settings of single tenants and of the running server (limits, lifetimes, registration) are not here but in the
settings API.
`

/** The page for operators about every environment variable. */
export const configurationPage: Page = {
  path: 'docs/operations/configuration.md',
  render() {
    const rows = Object.entries<Variable>(variables)
    const groups = [...new Set(rows.map(([, { group }]) => group))]
    const sections = groups.map((group) =>
      section(
        group,
        rows.filter(([, row]) => row.group === group),
      ),
    )
    return [introduction, ...sections].join('\n')
  },
}

function section(group: string, rows: readonly (readonly [string, Variable])[]): string {
  const lines = rows.map(
    ([name, variable]) => `| \`${name}\` | ${shownDefault(variable)} | ${meaningOf(variable)} |`,
  )
  return [`## ${group}`, '', '| Variable | Default | Meaning |', '|---|---|---|', ...lines, ''].join('\n')
}

function meaningOf({ meaning, secret }: Variable): string {
  return cell(secret === undefined ? meaning : `${meaning} *Secret.*`)
}

function shownDefault(variable: Variable): string {
  if (variable.shownDefault !== undefined) return cell(variable.shownDefault)
  return typeof variable.default === 'string' ? cell(`\`${variable.default}\``) : 'none'
}

function cell(markdown: string): string {
  return markdown.replaceAll('|', '\\|')
}
