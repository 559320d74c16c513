/** Why the last attempt failed, in one word: a problem of the authority (RFC 8555 section 6.7), or one of ours. */
export interface CertificateFault {
  readonly kind: string
  readonly detail: string
}

/** A name that this server answers for, and how it stands with its certificate. Times are Unix seconds. */
export interface CertificateState {
  readonly name: string
  /** The registered domain, by which authorities limit. */
  readonly zone: string
  /** Of the certificate, undefined while there is none. */
  readonly notBefore: number | undefined
  readonly notAfter: number | undefined
  readonly renewAt: number
  /** When the authority is asked again for the time of renewal. */
  readonly askAt: number | undefined
  readonly orderUrl: string | undefined
  readonly orderStartedAt: number | undefined
  readonly nextAttemptAt: number
  /** In a row. */
  readonly failures: number
  readonly failingSince: number | undefined
  readonly fault: CertificateFault | undefined
  /** The last stage of which the administrator was told. */
  readonly warnedStage: number
  /** Since when this server does not answer for the name any more. */
  readonly unwantedSince: number | undefined
}

/** The end of the second third of a life (docs/operations/tls.md, Renewal). */
export function usualRenewal({ notBefore, notAfter }: { notBefore: number; notAfter: number }): number {
  return notBefore + Math.floor(((notAfter - notBefore) * 2) / 3)
}

const minute = 60
const hour = 60 * minute
const day = 24 * hour

interface AskedWindow {
  readonly startMs: number
  readonly endMs: number
  readonly askAgainAtMs: number | undefined
}

/** When to renew by what the authority says (RFC 9773 section 4.2), and when to ask it again: a moment of its window, chosen
 * once. Whatever it says, no certificate is renewed on its first day or before a tenth of its life, so that this has an end,
 * and an eighth is left for tries. */
export function nextRenewal(
  { notBefore = 0, notAfter = 0, renewAt }: CertificateState,
  window: AskedWindow | undefined,
  { now, random }: { readonly now: number; readonly random: number },
): { readonly renewAt: number; readonly askAt: number } {
  const usual = usualRenewal({ notBefore, notAfter })
  if (!window) return { renewAt, askAt: now + 6 * hour }
  const askAgainAt = Math.ceil((window.askAgainAtMs ?? 0) / 1000) || now + 6 * hour
  const askAt = Math.min(Math.max(askAgainAt, now + hour), now + day)
  // It may have been made due by hand while the authority was asked.
  if (renewAt <= now) return { renewAt, askAt }
  const [start, end] = [window.startMs / 1000, window.endMs / 1000]
  if (renewAt !== usual && renewAt >= start && renewAt <= end) return { renewAt, askAt }
  const life = notAfter - notBefore
  const earliest = notBefore + Math.min(day, Math.floor(life / 10))
  const latest = notAfter - Math.floor(life / 8)
  const chosen = Math.floor(start + random * (end - start))
  return { renewAt: Math.min(Math.max(chosen, earliest), latest), askAt }
}

export function isDue({ renewAt, nextAttemptAt, unwantedSince }: CertificateState, now: number): boolean {
  return unwantedSince === undefined && renewAt <= now && nextAttemptAt <= now
}

/** How long a name waits after so many failures in a row: authorities count failed attempts, five an hour at Let's Encrypt. Where
 * there is a certificate that will end it is tried four times a day. */
export function retryDelaySecs(failures: number, hasCertificate: boolean): number {
  const longest = hasCertificate ? 6 * hour : day
  return Math.min(longest, 5 * minute * 3 ** Math.min(failures - 1, 10))
}

/** What of its life a certificate has left when an administrator is told that it cannot be renewed, stage by stage: of 90 days
 * the last 22, 9 and 2, and when it has ended. */
const warningShares = [1 / 4, 1 / 10, 1 / 40, 0]
/** How long a name that never had one has failed. */
const missingSecs = [hour, 7 * day]

/** The stage of a name that cannot get its certificate; 0 while there is time. */
export function warningStage(state: CertificateState, now: number): number {
  const { notBefore, notAfter, fault, failingSince = now, unwantedSince } = state
  if (unwantedSince !== undefined) return 0
  if (notBefore === undefined || notAfter === undefined)
    return missingSecs.filter((secs) => now - failingSince >= secs).length
  if (fault === undefined && !hasEnded(state, now)) return 0
  const left = (notAfter - now) / (notAfter - notBefore)
  return warningShares.filter((share) => left <= share).length
}

/** How long a certificate still lives, in a few words. */
export function describeLife(state: Pick<CertificateState, 'notAfter'>, now: number): string {
  if (state.notAfter === undefined) return 'no certificate yet'
  return hasEnded(state, now) ? 'ended' : `ends in ${Math.floor((state.notAfter - now) / day)} days`
}

export function hasEnded({ notAfter }: Pick<CertificateState, 'notAfter'>, now: number): boolean {
  return notAfter !== undefined && notAfter <= now
}
