import { userInfo } from 'node:os'
import { ConfigError } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'
import { errorCode } from '#lib/system-error.ts'
import { UsageError } from './command.ts'
import { manualPage } from './manual-page.ts'

/** What a program is told of a failure, on standard error: the shape of the API's error without time and request. */
interface FailureReport {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

export function reportOf(error: unknown): FailureReport {
  if (error instanceof UsageError) return { code: 'E-USAGE', message: error.message }
  if (error instanceof ConfigError) {
    const message = 'The configuration is wrong.'
    return { code: 'E-CONFIG', message, details: { problems: error.problems } }
  }
  if (error instanceof Failure) {
    const { code, details } = error
    return { code, message: withCause(error), ...(details ? { details } : {}) }
  }
  return { code: 'E-INTERNAL', message: error instanceof Error ? withCause(error) : String(error) }
}

/** The same for a person, in lines. Only what looks like a mistake in the program comes with its stack. */
export function explanationOf(error: unknown): string[] {
  if (error instanceof ConfigError)
    return [
      'The configuration is wrong:',
      ...error.problems.map(({ variable, message }) => `  ${variable} ${message}`),
    ]
  if (isMistake(error)) return stackLines(error)
  const { message, details } = reportOf(error)
  return [message, ...Object.entries(details ?? {}).flatMap(linesOf)]
}

/** The name and message of an error as one line, and each line of its stack as another. A message with line breaks
 * stays one line, in which they are escaped when it is printed: it may contain text of a client, which must not look
 * like lines of this program. */
export function stackLines({ name, message, stack = '' }: Error): string[] {
  const head = `${name}: ${message}`
  return stack.startsWith(head) ? [head, ...stack.slice(head.length).split('\n').slice(1)] : [head]
}

/** A member of `details` in words: of a list a line for each. */
function linesOf([name, value]: readonly [string, unknown]): string[] {
  const items = Array.isArray(value) ? value : [value]
  return items.map((item) => `  ${name}: ${inWords(item)}`)
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .filter(([, member]) => member !== '')
    .map(([name, member]) => `${name} ${inWords(member)}`)
    .join(', ')
}

const systemAdvice: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another program has this address: the variable that names it (LISTEN, LISTEN_TLS, METRICS_LISTEN or DNS_LISTEN) chooses another one, and `ss -lntup` shows who has it.',
  EADDRNOTAVAIL:
    'This machine does not have that address: the variable that names it (LISTEN, LISTEN_TLS, METRICS_LISTEN or DNS_LISTEN) must have one of its own.',
  ENOSPC: 'The disk is full: `kith storage` shows what takes the room.',
}

/** What to do about a failure, for a person; undefined where the message says it. */
export function adviceOf(error: unknown): string | undefined {
  if (error instanceof ConfigError) return `Every variable is in ${manualPage('configuration.md')}.`
  if (isMistake(error)) return 'This is a mistake in the program: please report it with these lines.'
  const codes = codesOf(error)
  const known =
    adviceOnRefusal(error) ?? codes.map((code) => systemAdvice[code]).find((advice) => advice !== undefined)
  if (known !== undefined) return known
  const isAway = codes.some((code) => /^(?:E-UNAVAILABLE|ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/.test(code))
  return isAway ? '`kith doctor` looks for what is wrong.' : undefined
}

/** What the system does not let this user do: to have a port, or to use a file. */
function adviceOnRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, syscall, path }: NodeJS.ErrnoException = error
  if (code !== 'EACCES' && code !== 'EPERM') return adviceOnRefusal(error.cause)
  if (syscall === 'listen' || syscall === 'bind')
    return `Ports below 1024 need the right to bind them: ${manualPage('tls.md')} says how to give it.`
  if (path === undefined) return undefined
  return `The user ${userName()} may not use ${path}: run it as the owner, or choose another place.`
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/** Of the error and its causes. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const code = error instanceof Failure ? error.code : errorCode(error)
  return [...(code === undefined ? [] : [code]), ...codesOf(error.cause)]
}

/** Of the errors of the language, the plain one is thrown with a sentence for people and by the system. */
function isMistake(error: unknown): error is Error {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  )
}

/** A database that is locked or a disk that is full stands in the cause. */
function withCause(error: Error): string {
  const { message, cause } = error
  return cause instanceof Error && cause.message !== message ? `${message} (${withCause(cause)})` : message
}
