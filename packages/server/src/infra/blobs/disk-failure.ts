import type { Logger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'
import { errorCode } from '#lib/system-error.ts'

const outOfRoom = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE'])

/** What the caller of the store is told about an error of the disk. */
export type ExplainDiskError = (error: unknown) => unknown

/**
 * `E-UNAVAILABLE`, and a line in the log, when the machine's disk is full, read-only or out of handles: no fault of the
 * tenant, whose own limit is `E-QUOTA`. Every other error stays what it is.
 */
export function explainDiskErrors(dir: string, logger: Pick<Logger, 'error'>): ExplainDiskError {
  return (error) => {
    const code = errorCode(error)
    if (!code || !outOfRoom.has(code)) return error
    logger.error({ err: error, code, dir }, 'The disk takes no more blobs')
    return new Failure('E-UNAVAILABLE', { cause: error })
  }
}
