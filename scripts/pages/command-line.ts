import { type Command, shownOption, usageOf } from '../../packages/server/src/app/cli/command.ts'
import { commands } from '../../packages/server/src/app/cli/commands.ts'
import type { Page } from './page.ts'

const introduction = `# Command line

Generated from the commands in \`packages/server/src/app/cli\` by \`npm run docs\`; change them there.

\`npx kith COMMAND\` reads the same environment and \`.env\` file as the server ([configuration](configuration.md)), so it is
run in the server's working directory and as its user. Every command works beside a running server: the two share the
database, and the server sees changes within five seconds.

| Exit code | |
|---|---|
| 0 | done, and what was asked for holds |
| 1 | failed, or something is wrong with what was looked at |
| 2 | called wrongly; nothing was done |

With \`--json\` a command prints one JSON document on standard output. A failure is one JSON document on standard error, in
the shape of the API's errors: \`{"error": {"code", "message", "details"?}}\`. The codes are those of the API,
\`E-USAGE\` when the command was called wrongly (exit code 2), and \`E-CONFIG\` with \`details.problems\`
(\`[{variable, message}]\`) when the environment is wrong. Control characters in names and values are
printed as \`\\u001b\`, so that they do not reach the terminal. Passwords, keys and tokens are never printed, but for links and
references that were asked for.
`

/** The page for operators about every command. */
export const commandLinePage: Page = {
  path: 'docs/operations/command-line.md',
  render: () => [introduction, ...commands.map(section)].join('\n'),
}

function section(command: Command): string {
  const { name, summary, description, options } = command
  const rows = Object.entries(options).map(
    ([option, row]) => `| \`${cell(shownOption([option, row]))}\` | ${cell(row.meaning)} |`,
  )
  return [
    `## ${name}`,
    '',
    '```',
    usageOf(command),
    '```',
    '',
    summary,
    ...(description === undefined ? [] : ['', description]),
    ...(rows.length === 0 ? [] : ['', '| Option | |', '|---|---|', ...rows]),
    '',
  ].join('\n')
}

function cell(markdown: string): string {
  return markdown.replaceAll('|', '\\|')
}
