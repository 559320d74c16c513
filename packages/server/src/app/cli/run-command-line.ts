import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearestName } from '#lib/nearest-name.ts'
import { printable } from '#lib/printable.ts'
import { errorCode } from '#lib/system-error.ts'
import { version } from '../version.ts'
import { type Command, type CommandInput, type Lines, UsageError, usageOf } from './command.ts'
import { commands } from './commands.ts'
import { adviceOf, explanationOf, reportOf } from './failure-report.ts'
import { helpOf, overview } from './help.ts'
import { status } from './status.ts'

/** Where a command line runs; `interruption` aborts its signal at the first interrupt, a second one ends the process. */
type Terminal = Pick<CommandInput, 'env' | 'print' | 'complain' | 'ask' | 'interruption' | 'pause'>

/** The same before anything is escaped. */
interface RawTerminal extends Omit<Terminal, 'print' | 'complain'> {
  print(text: string): void
  complain(text: string): void
}

/** Runs one command line and answers the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(words: readonly string[], raw: RawTerminal): Promise<number> {
  const terminal = printing(raw)
  if (['--version', '-V', 'version'].includes(words[0] ?? '')) {
    terminal.print(version)
    return 0
  }
  if (words.every((word) => word === '--json')) return await runCommand(status, words, terminal)
  const named = nameIn(words[0] === 'help' ? words.slice(1) : words)
  const command = findCommand(named)
  if (words[0] === 'help' || words.includes('--help') || words.includes('-h'))
    return command ? print(helpOf(command), terminal) : help(named, words, terminal)
  if (!command) return refuse(named, words, terminal)
  return await runCommand(command, words.slice(command.name.split(' ').length), terminal)
}

/** Whatever a command says goes through here: names, settings, files and failures hold others' words, which must neither move
 * the cursor of an operator's terminal nor look like a line of ours. */
function printing(raw: RawTerminal): Terminal {
  const joined = (lines: Lines) => [lines].flat().map(printable).join('\n')
  return {
    ...raw,
    print: (lines) => raw.print(joined(lines)),
    complain: (lines) => raw.complain(joined(lines)),
    ask: (question) => raw.ask(printable(question)),
  }
}

async function runCommand(command: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const input = parse(command, words, terminal)
    const outcome = await command.run(input)
    if (outcome) terminal.print(input.options.json === true ? JSON.stringify(outcome.data) : outcome.text)
    return outcome?.ok === false ? 1 : 0
  } catch (error) {
    const isUsage = error instanceof UsageError
    const advice = isUsage ? [`Usage: ${usageOf(command)}`, '', moreHelp(command)] : [adviceOf(error) ?? []]
    complain(error, words, terminal, advice.flat())
    return isUsage ? 2 : 1
  }
}

function moreHelp({ name }: Command): string {
  return `\`kith help ${name}\` tells more of it.`
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

function print(lines: Lines, terminal: Terminal): number {
  terminal.print(lines)
  return 0
}

function refuse(named: readonly string[], words: readonly string[], terminal: Terminal): number {
  const name = named.slice(0, 2).join(' ')
  const meant = nearestName(
    name,
    commands.map((command) => command.name),
  )
  const guess = meant === undefined ? '' : `. Did you mean kith ${meant}?`
  const error = new UsageError(`Unknown command: ${name || words[0]}${guess}`)
  const relatives = relativesOf(named)
  const more = relatives.length > 0 ? ['', ...overview(relatives)] : ['`kith help` shows all commands.']
  complain(error, words, terminal, more)
  return 2
}

function relativesOf([first]: readonly string[]): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${first} `))
}

function complain(
  error: unknown,
  words: readonly string[],
  terminal: Terminal,
  advice: readonly string[],
): void {
  if (words.includes('--json')) terminal.complain(JSON.stringify({ error: reportOf(error) }))
  else terminal.complain([...explanationOf(error), ...advice])
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find((command) => command.name === words.slice(0, command.name.split(' ').length).join(' '))
}

function parse({ positionals, options }: Command, words: readonly string[], terminal: Terminal) {
  const parsed = parseWords(options, words)
  const given = parsed.positionals
  const missing = positionals[given.length]
  if (missing !== undefined && !missing.startsWith('[')) throw new UsageError(`${missing} is missing`)
  if (given.length > positionals.length)
    throw new UsageError(`Too many arguments: ${JSON.stringify(given.at(-1))}`)
  const named = given.map((text, at) => [positionals[at]?.replaceAll(/[[\]]/g, ''), text])
  return {
    arguments: Object.fromEntries(named),
    options: parsed.values as CommandInput['options'],
    ...terminal,
  }
}

function parseWords(options: Command['options'], words: readonly string[]): ReturnType<typeof parseArgs> {
  const types = Object.entries(options).map(([name, { type }]) => [name, { type }] as const)
  const known: NonNullable<ParseArgsConfig['options']> = {
    ...Object.fromEntries(types),
    json: { type: 'boolean' },
  }
  const line = { args: [...words], options: known, allowPositionals: true }
  try {
    return parseArgs({ ...line, strict: true })
  } catch (error) {
    if (errorCode(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw unknownOption(line)
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(message.replaceAll('\n', ' '))
  }
}

function unknownOption(line: ParseArgsConfig & { readonly options: object }): UsageError {
  const known = Object.keys(line.options)
  const { tokens } = parseArgs({ ...line, strict: false, tokens: true })
  const unknown = tokens.find((token) => token.kind === 'option' && !known.includes(token.name))
  if (unknown?.kind !== 'option') throw new TypeError('every option is known')
  const meant = nearestName(unknown.name, known)
  const guess = meant === undefined ? '' : `. Did you mean --${meant}?`
  return new UsageError(`Unknown option ${unknown.rawName}${guess}`)
}
