import {
  type IdTag,
  parseIdTag,
  parseTimestamp,
  type UnixSeconds,
  type ValidationIssue,
} from '@kith/protocol'
import { Failure } from '#lib/failure.ts'

/** What a command was called with. */
export interface CommandInput {
  /** By the names in `positionals`; those in brackets may be absent. */
  readonly arguments: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prints while the command goes on; what it has done at last is its outcome. */
  print(lines: Lines): void
  /** The same on standard error. */
  complain(lines: Lines): void
  /** Asks the person, or reads the first line of standard input, without showing what is typed. */
  ask(question: string): Promise<string>
  /** Aborts at an interrupt. Until it is called, an interrupt ends the process at once. */
  interruption(): AbortSignal
  /** Waits, in milliseconds, until a running server has noticed a change; tests do not wait. */
  readonly pause: (ms: number) => Promise<unknown>
}

/** A line, or several. What stands in a line may be others' words and never ends it. */
export type Lines = string | readonly string[]

/** What a command did: a sentence or a table for people, one JSON document for programs. */
interface CommandOutcome {
  readonly text: Lines
  readonly data: unknown
  /** False when the command ran but found something wrong: exit code 1. */
  readonly ok?: boolean
}

interface CommandOption {
  readonly type: 'string' | 'boolean'
  /** What stands for the value in help; the option's name when absent. */
  readonly value?: string
  /** A sentence for help and the manual. */
  readonly meaning: string
}

export interface Command {
  /** One or two words: `serve`, `tenant create`. */
  readonly name: string
  readonly summary: string
  /** Paragraphs for help and the manual. */
  readonly description?: string
  /** `IDTAG`, or `[IDTAG]` where it may be absent. */
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, CommandOption>>
  /** Undefined: the command has printed its output itself. */
  run(input: CommandInput): Promise<CommandOutcome | undefined>
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Does the work; what a use case refuses as invalid was wrong in the call of the command. `names`: what members of the
 * input are called there. */
export async function refusingInvalid<Result>(
  work: () => Promise<Result>,
  names: Readonly<Record<string, string>> = {},
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'E-VALIDATION') throw error
    const issues = (error.details?.issues ?? []) as readonly ValidationIssue[]
    const texts = issues.map((issue) => issueText(issue, names))
    throw new UsageError(texts.join('; ') || error.message, { cause: error })
  }
}

/** `config.healthPath must be …`; a message that is a sentence needs no path before it. */
function issueText({ path, message }: ValidationIssue, names: Readonly<Record<string, string>>): string {
  const given = path.split('/').filter(Boolean).join('.')
  const member = names[given] ?? given
  return /^[A-Z]/.test(message) || member === '' ? message : `${member} ${message}`
}

/** The text of an option, or undefined when it is absent. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name]
  return typeof value === 'string' ? value : undefined
}

export function hasFlag(input: CommandInput, name: string): boolean {
  return input.options[name] === true
}

/** One of a few words, or undefined when the option is absent. */
export function choiceOption<Word extends string>(
  input: CommandInput,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = textOption(input, name)
  const word = words.find((candidate) => candidate === text)
  if (text !== undefined && word === undefined) throw new UsageError(`--${name} is ${words.join(' or ')}`)
  return word
}

/** A whole number from 1 to `most`; `fallback` when the option is absent. */
export function countOption(
  input: CommandInput,
  name: string,
  { most, fallback }: { readonly most: number; readonly fallback: number },
): number {
  const text = textOption(input, name)
  if (text === undefined) return fallback
  return readCount(text, `--${name}`, most)
}

/** The text as a whole number from 1 to `most`; `name` is what it was given for. */
export function readCount(text: string, name: string, most: number): number {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > most) throw new UsageError(`${name} is a whole number from 1 to ${most}`)
  return count
}

/** Unix seconds of a time, or of the beginning of a day (UTC); undefined when the option is absent. */
export function timeOption(input: CommandInput, name: string): UnixSeconds | undefined {
  const text = textOption(input, name)
  const time = text === undefined ? undefined : readTime(text)
  if (text !== undefined && time === undefined)
    throw new UsageError(
      `--${name} ${JSON.stringify(text)} is no time: 2027-01-31T12:00:00Z, 2027-01-31, or Unix seconds`,
    )
  return time
}

/** The same of a text; undefined when it is no time. */
export function readTime(text: string): UnixSeconds | undefined {
  return parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
}

/** A positional that the command cannot do without. */
export function argument(input: CommandInput, name: string): string {
  const text = input.arguments[name]
  if (text === undefined) throw new UsageError(`${name} is missing`)
  return text
}

/** The positional IDTAG in its canonical form. */
export function idTagArgument(input: CommandInput): IdTag {
  return readIdTag(argument(input, 'IDTAG'))
}

export function readIdTag(text: string): IdTag {
  const idTag = parseIdTag(text)
  if (!idTag) throw new UsageError(`${JSON.stringify(text)} is no identity: a name like alice.example.com`)
  return idTag
}

/** How a command is called, for help. */
export function usageOf({ name, positionals, options }: Command): string {
  const all = Object.entries(options).map((option) => `[${shownOption(option)}]`)
  return ['kith', name, ...positionals, ...all].join(' ')
}

/** An option with what stands for its value. */
export function shownOption([name, { type, value = name.toUpperCase() }]: readonly [string, CommandOption]) {
  return type === 'boolean' ? `--${name}` : `--${name} ${value}`
}
