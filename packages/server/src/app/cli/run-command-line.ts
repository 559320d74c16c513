import { parseArgs } from 'node:util'
import { Failure } from '#lib/failure.ts'
import { type Command, type CommandInput, UsageError, usageOf } from './command.ts'
import { commands } from './commands.ts'

interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  print(text: string): void
  complain(text: string): void
}

/** Runs one command line and answers the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  const wantsHelp =
    words.includes('--help') || words.includes('-h') || words[0] === 'help' || words.length === 0
  const command = findCommand(words)
  if (!command || wantsHelp) {
    const text = command ? `${usageOf(command)}\n\n${command.summary}` : overview()
    if (wantsHelp) terminal.print(text)
    else terminal.complain(`Unknown command: ${words.join(' ')}\n\n${text}`)
    return wantsHelp ? 0 : 2
  }
  return await runCommand(command, words.slice(command.name.split(' ').length), terminal)
}

async function runCommand(command: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const input = parse(command, words, terminal.env)
    const outcome = await command.run(input)
    if (outcome) terminal.print(input.options.json === true ? JSON.stringify(outcome.data) : outcome.text)
    return outcome?.ok === false ? 1 : 0
  } catch (error) {
    terminal.complain(explain(command, error))
    return error instanceof UsageError ? 2 : 1
  }
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find((command) => command.name === words.slice(0, command.name.split(' ').length).join(' '))
}

function parse(command: Command, words: readonly string[], env: Terminal['env']): CommandInput {
  const options = { ...command.options, json: { type: 'boolean' } } as const
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  if (parsed.positionals.length !== command.positionals.length)
    throw new UsageError('Wrong number of arguments')
  const named = command.positionals.map((name, at) => [name, parsed.positionals[at] ?? ''])
  return {
    arguments: Object.fromEntries(named),
    options: parsed.values as CommandInput['options'],
    env,
  }
}

function explain(command: Command, error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\nUsage: ${usageOf(command)}`
  if (error instanceof Failure) {
    const details = error.details ? `\n${JSON.stringify(error.details, undefined, 2)}` : ''
    return `${error.code}: ${error.message}${details}`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length))
  const rows = commands.map((command) => `  kith ${command.name.padEnd(width)}  ${command.summary}`)
  return ['Usage: kith COMMAND [--json]', '', ...rows].join('\n')
}
