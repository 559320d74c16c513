import { ConfigError } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'
import { UsageError } from './command.ts'

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

/** The same for a person. Only what looks like a mistake in the program comes with its stack. */
export function explanationOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message
  if (isMistake(error)) return error.stack ?? error.message
  const { message, details } = reportOf(error)
  return details ? `${message}\n${JSON.stringify(details, undefined, 2)}` : message
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
