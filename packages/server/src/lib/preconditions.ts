import { Failure } from './failure.ts'

/** The headers of a request by which it wants an answer only under a condition. */
export interface Conditions {
  readonly 'if-match'?: string | undefined
  readonly 'if-none-match'?: string | undefined
  readonly 'if-modified-since'?: string | undefined
  readonly 'if-unmodified-since'?: string | undefined
}

/** Entity tag and time of change of what would be answered to a request without conditions. */
export interface Validators {
  readonly etag: string
  /** Unix seconds, where it is known. */
  readonly modifiedAt?: number | undefined
}

/** Whether the client has the answer to its GET or HEAD already: 304 (RFC 9110, 13.2.2). Throws `E-PRECONDITION` where it
 * wants none, since it is not the one that it expects. */
export function hasCurrent(conditions: Conditions, { etag, modifiedAt }: Validators): boolean {
  const { 'if-match': expected, 'if-none-match': held } = conditions
  const isExpected =
    expected === undefined
      ? !isModifiedSince(conditions['if-unmodified-since'], modifiedAt)
      : names(expected, (tag) => tag === etag && !tag.startsWith('W/'))
  if (!isExpected) throw new Failure('E-PRECONDITION')
  if (held !== undefined) return names(held, (tag) => opaque(tag) === opaque(etag))
  return isModifiedSince(conditions['if-modified-since'], modifiedAt) === false
}

/** Tags may have commas between their quotes. */
function names(list: string, isWanted: (tag: string) => boolean): boolean {
  return list.trim() === '*' || (list.match(/(?<![^\s,])(?:W\/)?"[^"]*"/g) ?? []).some(isWanted)
}

const opaque = (tag: string) => tag.replace(/^W\//, '')

const httpDate = /^[A-Z][a-z]+, .* GMT$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** Undefined where one of the times is not known, or is none. */
function isModifiedSince(since: string | undefined, modifiedAt: number | undefined): boolean | undefined {
  if (since === undefined || modifiedAt === undefined) return undefined
  // The oldest of the three forms names no zone.
  const sinceMs = Date.parse(asctime.test(since) ? `${since} GMT` : httpDate.test(since) ? since : '')
  return Number.isNaN(sinceMs) ? undefined : modifiedAt * 1000 > sinceMs
}
