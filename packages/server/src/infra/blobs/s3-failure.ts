import type { Logger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'

/** What went wrong with a store elsewhere, without anything of the request: it was signed with the secret. */
export interface S3Trouble {
  /** The store's or the system's name of it, such as `SlowDown` or `ECONNREFUSED`. */
  readonly code: string
  readonly status: number | undefined
  readonly requestId: string | undefined
}

const shownCode = /^[A-Za-z0-9_]{1,60}$/

/** Reads what the library threw. */
export function readTrouble(error: unknown): S3Trouble {
  const { name, code, $metadata } = (error ?? {}) as {
    readonly name?: unknown
    readonly code?: unknown
    readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string }
  }
  const told = [code, name].find(
    (text): text is string => typeof text === 'string' && shownCode.test(text) && text !== 'Error',
  )
  return { code: told ?? 'Unknown', status: $metadata?.httpStatusCode, requestId: $metadata?.requestId }
}

/** What the caller of the store is told about an error of the library. */
export type ExplainS3Error = (error: unknown) => unknown

/**
 * `E-UNAVAILABLE`, and a line in the log, for whatever the store or the way to it answered: whether it is down, slow, full
 * or refuses the key, no upload is at fault and the operator must look.
 */
export function explainS3Errors(bucket: string, logger: Pick<Logger, 'error'>): ExplainS3Error {
  return (error) => {
    if (error instanceof Failure) return error
    const trouble = readTrouble(error)
    logger.error({ ...trouble, bucket }, 'The store of blobs does not do its work')
    const cause = new Error(
      `S3: ${trouble.code}${trouble.status === undefined ? '' : ` (${trouble.status})`}`,
    )
    return new Failure('E-UNAVAILABLE', { cause, retryAfterSecs: 5 })
  }
}

const absences = ['NoSuchKey', 'NoSuchUpload', 'NotFound']

/** Whether it says that there is no such object or upload. A missing bucket is another thing, where the store tells them
 * apart. */
export function isAbsent(error: unknown): boolean {
  const { code, status } = readTrouble(error)
  return absences.includes(code) || (status === 404 && code === 'Unknown')
}
