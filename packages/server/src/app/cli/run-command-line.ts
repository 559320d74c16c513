import { parseArgs } from 'node:util'
import { version } from '../version.ts'
import { type Command, type CommandInput, UsageError, usageOf } from './command.ts'
import { commands } from './commands.ts'
import { explanationOf, reportOf } from './failure-report.ts'
import { helpOf, overview } from './help.ts'

/** Where a command line runs; `interruption` aborts its signal at the first interrupt, a second one ends the process. */
interface Terminal extends Pick<CommandInput, 'env' | 'ask' | 'interruption' | 'pause'> {
  print(text: string): void
  complain(text: string): void
}

/** Runs one command line and answers the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words[0] === '--version') {
    terminal.print(version)
    return 0
  }
  const named = nameIn(words[0] === 'help' ? words.slice(1) : words)
  const command = findCommand(named)
  if (words.length === 0 || words[0] === 'help' || words.includes('--help') || words.includes('-h'))
    return command ? print(helpOf(command), terminal) : help(named, words, terminal)
  if (!command) return refuse(named, words, terminal)
  return await runCommand(command, words.slice(command.name.split(' ').length), terminal)
}

async function runCommand(command: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const input = parse(command, words, terminal)
    const outcome = await command.run(input)
    if (outcome) terminal.print(input.options.json === true ? JSON.stringify(outcome.data) : outcome.text)
    return outcome?.ok === false ? 1 : 0
  } catch (error) {
    const isUsage = error instanceof UsageError
    const usage = isUsage ? `\n\nUsage: ${usageOf(command)}` : ''
    complain(error, words, terminal, usage)
    return isUsage ? 2 : 1
  }
}

/** What stands before the first option: a command, and perhaps what it is about. */
function nameIn(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => word.startsWith('-'))
  return end < 0 ? words : words.slice(0, end)
}

/** What there is of that name: nothing is everything, `tenant` is what begins with it. */
function help(named: readonly string[], words: readonly string[], terminal: Terminal): number {
  const listed = named.length === 0 ? commands : relativesOf(named)
  return listed.length > 0 ? print(overview(listed), terminal) : refuse(named, words, terminal)
}

function print(text: string, terminal: Terminal): number {
  terminal.print(text)
  return 0
}

function refuse(named: readonly string[], words: readonly string[], terminal: Terminal): number {
  const error = new UsageError(`Unknown command: ${named.slice(0, 2).join(' ') || words[0]}`)
  const relatives = relativesOf(named)
  complain(error, words, terminal, `\n\n${overview(relatives.length > 0 ? relatives : commands)}`)
  return 2
}

function relativesOf([first]: readonly string[]): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${first} `))
}

function complain(error: unknown, words: readonly string[], terminal: Terminal, advice: string): void {
  if (words.includes('--json')) terminal.complain(JSON.stringify({ error: reportOf(error) }))
  else terminal.complain(explanationOf(error) + advice)
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find((command) => command.name === words.slice(0, command.name.split(' ').length).join(' '))
}

function parse({ positionals, options }: Command, words: readonly string[], terminal: Terminal) {
  const types = Object.entries(options).map(([name, { type }]) => [name, { type }] as const)
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({
      args: [...words],
      options: { ...Object.fromEntries(types), json: { type: 'boolean' } },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  const given = parsed.positionals
  const missing = positionals[given.length]
  if (missing !== undefined && !missing.startsWith('[')) throw new UsageError(`${missing} is missing`)
  if (given.length > positionals.length)
    throw new UsageError(`Too many arguments: ${JSON.stringify(given.at(-1))}`)
  const named = given.map((text, at) => [positionals[at]?.replaceAll(/[[\]]/g, ''), text])
  return {
    arguments: Object.fromEntries(named),
    options: parsed.values as CommandInput['options'],
    env: terminal.env,
    ask: terminal.ask,
    interruption: terminal.interruption,
    pause: terminal.pause,
  }
}
