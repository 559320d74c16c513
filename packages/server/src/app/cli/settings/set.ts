import { putSetting, valueOfText } from '#features/settings/index.ts'
import {
  argument,
  type Command,
  type CommandInput,
  hasFlag,
  refusingInvalid,
  UsageError,
} from '../command.ts'
import { withProgram } from '../open-program.ts'
import { findPlace, placeText, placeView, tenantOption } from './setting-place.ts'

export const settingsSet: Command = {
  name: 'settings set',
  summary: 'Set a setting for all tenants, or for one.',
  description:
    'The value is JSON, or a text: `42`, `true`, `\'["a", "b"]\'`, `dark`. A running server follows within five seconds.',
  positionals: ['NAME', '[VALUE]'],
  options: {
    ...tenantOption,
    stdin: {
      type: 'boolean',
      meaning:
        'Ask for the value on the terminal, or read the first line of standard input: for secrets, which other users of the machine may see in a command line.',
    },
  },
  async run(input) {
    const name = argument(input, 'NAME')
    const text = await readText(input)
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const place = await findPlace(program, input)
      const change = { ...place, name, value: valueOfText(name, text) }
      const [, value] = await refusingInvalid(() => putSetting({ ...services, ...identity }, change))
      return { text: `${name} is set ${placeText(place)}.`, data: { ...placeView(place), name, value } }
    })
  },
}

async function readText(input: CommandInput): Promise<string> {
  const given = input.arguments.VALUE
  if (!hasFlag(input, 'stdin')) return argument(input, 'VALUE')
  if (given !== undefined) throw new UsageError('VALUE and --stdin exclude each other')
  return await input.ask('Value: ')
}
