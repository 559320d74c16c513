import { Failure } from '#lib/failure.ts'

export interface DiskLogger {
  error(fields: object, message: string): void
}

const outOfRoom = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE'])

/** What the caller of the store is told about an error of the disk. */
export type ExplainDiskError = (error: unknown) => unknown

/**
 * `E-UNAVAILABLE`, and a line in the log, when the machine's disk is full, read-only or out of handles: no fault of the
 * tenant, whose own limit is `E-QUOTA`. Every other error stays what it is.
 */
export function explainDiskErrors(dir: string, logger: DiskLogger): ExplainDiskError {
  return (error) => {
    const code = errorCode(error)
    if (!code || !outOfRoom.has(code)) return error
    logger.error({ err: error, code, dir }, 'The disk takes no more blobs')
    return new Failure('E-UNAVAILABLE', { cause: error })
  }
}

/** The system's name of an error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What `work` answers, or undefined when the file it speaks of is not there. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined
    throw error
  }
}
