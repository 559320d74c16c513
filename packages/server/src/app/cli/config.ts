import type { Command } from './command.ts'
import { columns } from './help.ts'
import { readCommandConfig } from './open-program.ts'

export const config: Command = {
  name: 'config',
  summary: 'Show what the server makes of its environment, with secrets hidden.',
  positionals: [],
  options: {},
  async run(input) {
    const { effective } = readCommandConfig(input)
    const rows = effective.map(({ name, value, from }) => [name, value ?? '(none)', `(${from})`])
    return {
      text: columns(rows),
      data: { variables: effective.map(({ name, value = null, from }) => ({ name, value, from })) },
    }
  },
}
