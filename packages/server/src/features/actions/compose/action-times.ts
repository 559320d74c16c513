import { invalid } from '#lib/failure.ts'

// A later time is a mistake, or meant to keep a job in the queue for ever.
const maxAheadSecs = 10 * 365 * 86_400

/** Fails when an action would expire before it is published, has expired, or is scheduled more than ten years ahead.
 * `now` in Unix seconds. */
export function assertTimes(
  {
    expiresAt,
    publishAt,
  }: { readonly expiresAt?: number | undefined; readonly publishAt?: number | undefined },
  now: number,
): void {
  if (expiresAt !== undefined && expiresAt <= now) throw invalid('/expiresAt', 'must lie in the future')
  if (publishAt === undefined) return
  if (publishAt > now + maxAheadSecs) throw invalid('/publishAt', 'must lie within ten years')
  if (expiresAt !== undefined && publishAt >= expiresAt)
    throw invalid('/publishAt', 'must be before expiresAt')
}
