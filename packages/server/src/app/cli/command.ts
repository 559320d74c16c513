import type { ParseArgsOptionsConfig } from 'node:util'

/** What a command was called with. */
export interface CommandInput {
  /** By the names in `positionals`; all of them are present. */
  readonly arguments: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What a command did: a sentence or a table for people, one JSON document for programs. */
export interface CommandOutcome {
  readonly text: string
  readonly data: unknown
  /** False when the command ran but found something wrong: exit code 1. */
  readonly ok?: boolean
}

export interface Command {
  /** One or two words: `serve`, `tenant create`. */
  readonly name: string
  readonly summary: string
  readonly positionals: readonly string[]
  readonly options: ParseArgsOptionsConfig
  /** Undefined: the command has said all it has to say. */
  run(input: CommandInput): Promise<CommandOutcome | undefined>
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The text of an option, or undefined when it is absent. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name]
  return typeof value === 'string' ? value : undefined
}

/** How a command is called, for `--help`. */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) =>
    option.type === 'boolean' ? `[--${name}]` : `[--${name} ${name.toUpperCase()}]`,
  )
  return ['kith', command.name, ...command.positionals, ...options].join(' ')
}
