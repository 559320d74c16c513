import { invalid } from '#lib/failure.ts'

// What is put off further is a mistake, or meant to stay in the queue for ever.
const maxAheadSecs = 10 * 365 * 86_400

/** Fails where an action would be over before it is published, or is put off by more than ten years. Unix seconds. */
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
