import { Failure } from '#lib/failure.ts'
import { errorCode } from '#lib/system-error.ts'
import { WorkGivenUp } from './transaction-watch.ts'

// SQLite: primary result codes (the low byte of `errcode`).
const sqliteBusy = 5
const sqliteLocked = 6
const sqliteFull = 13
const sqliteUnwritable = new Set([8 /* readonly */, 10 /* I/O */, sqliteFull, 14 /* cannot open */])
const refusedValues = new Set([18 /* too big */, 19 /* constraint */, 20 /* mismatch */])
// PostgreSQL SQLSTATE.
const serializationFailures = new Set(['40001', '40P01'])
// Classes 08 connection, 53 resources, 57 operator intervention; codes of sockets have letters only.
const unreachable = /^(08|53|57P)|^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/
const lostConnection =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered/

/** Does SQLite say so, of a file or of a statement? */
export function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && read(error).errcode !== undefined
}

/** Does another process hold the write lock of the SQLite file? */
export function isBusy(error: unknown): boolean {
  const { errcode } = read(error)
  return errcode !== undefined && ((errcode & 0xff) === sqliteBusy || (errcode & 0xff) === sqliteLocked)
}

/** Has the disk of the SQLite file no room left? */
export function isOutOfRoom(error: unknown): boolean {
  const { errcode } = read(error instanceof Failure ? error.cause : error)
  return errcode !== undefined && (errcode & 0xff) === sqliteFull
}

/** Did the transaction lose against a concurrent one, so that it can be run again? */
export function isSerializationFailure(error: unknown): boolean {
  const { code } = read(error)
  return code !== undefined && serializationFailures.has(code)
}

/** A statement of this connection was prepared before a migration changed the columns it answers. */
export function isStalePlan(error: unknown): boolean {
  return read(error).code === '0A000' && read(error).message.includes('cached plan')
}

/** Does the database refuse a value: one of the wrong type, a missing one, one that is there already, or one that makes
 * a sum too large? */
export function isRefusedValue(error: unknown): boolean {
  const { code, errcode, message } = read(error)
  if (errcode !== undefined) return refusedValues.has(errcode & 0xff) || message === 'integer overflow'
  // 54: an index has no room for it.
  return code !== undefined && /^(22|23|54)/.test(code)
}

/** Can the database not be reached or written at present, through no fault of the statement? */
export function isUnavailable(error: unknown): boolean {
  const { code, errcode, message } = read(error)
  if (errcode !== undefined) return isBusy(error) || sqliteUnwritable.has(errcode & 0xff)
  return (code !== undefined && unreachable.test(code)) || lostConnection.test(message)
}

/** What a caller outside this module is told: `E-UNAVAILABLE` for trouble of the database, else the error itself. */
export function outwardError(error: unknown): unknown {
  if (!isUnavailable(error) && !(error instanceof WorkGivenUp)) return error
  return new Failure('E-UNAVAILABLE', { cause: error, retryAfterSecs: 1 })
}

function read(error: unknown): {
  readonly message: string
  readonly code?: string | undefined
  readonly errcode?: number | undefined
} {
  if (!(error instanceof Error)) return { message: '' }
  return {
    message: error.message,
    code: errorCode(error),
    errcode: 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined,
  }
}
