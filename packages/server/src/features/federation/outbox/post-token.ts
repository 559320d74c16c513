import type { ActionId } from '@kith/protocol'
import { type Egress, type EgressAnswer, EgressError, retryAfterMs } from '#infra/egress/index.ts'
import { type GroupVerdict, JobVerdict } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'

interface PostDeps {
  readonly egress: Pick<Egress, 'request'>
  readonly clock: Clock
}

/** A token and the inbox that it is posted to. */
export interface TokenPost {
  readonly actionId: ActionId
  readonly token: string
  /** The token that it announces. */
  readonly beside?: string | undefined
  readonly inboxUrl: string
  readonly signal: AbortSignal
  /** Asked once the connection is open, so that an action deleted in the meantime is not sent. */
  readonly isStillWanted: () => Promise<boolean>
}

/** The verdict on a token that is no longer to be sent. */
export function withdrawn(): JobVerdict {
  return new JobVerdict('it was deleted, or has expired, before it was sent', {
    kind: 'dead',
    isExpected: true,
  })
}

/** What the receiver acknowledges. */
export interface Receipt {
  /** False when it could not get the issuer's key yet. It keeps the token for a day and tries again. */
  readonly isVerified: boolean
}

// The receiver has checked the token and refuses it permanently (docs/protocol/delivery.md).
const finalStatuses = new Set([400, 401, 403, 404, 410, 413])
const maxAnswerBytes = 65_536

/** Posts a token to an inbox. Without a receipt it throws the `JobVerdict` for the delivery. */
export async function postToken(deps: PostDeps, letter: TokenPost): Promise<Receipt> {
  const answer = await post(deps, letter)
  const receipt = readReceipt(answer, letter.actionId)
  if (!receipt) throw verdictOn(answer, deps.clock.now())
  return receipt
}

async function post(
  { egress }: PostDeps,
  { inboxUrl, token, beside, signal, isStillWanted }: TokenPost,
): Promise<EgressAnswer> {
  const bytes = Buffer.from(beside === undefined ? token : JSON.stringify({ token, announced: beside }))
  let isWanted = true
  const read = async () => {
    isWanted = await isStillWanted()
    if (!isWanted) throw withdrawn()
    return bytes
  }
  try {
    return await egress.request({
      method: 'POST',
      url: inboxUrl,
      headers: {
        'content-type': beside === undefined ? 'application/jwt' : 'application/json',
        accept: 'application/json',
      },
      body: { bytes: bytes.length, read },
      maxBytes: maxAnswerBytes,
      signal,
    })
  } catch (error) {
    if (!isWanted) throw withdrawn()
    if (!(error instanceof EgressError)) throw error
    // NOTE: a refused address may be a mistake in DNS that its owner corrects, so it is retried like an unreachable
    // one.
    const group = unreached.has(error.reason) ? 'failed' : 'nothing'
    throw new JobVerdict(`${error.reason}: ${error.message}`, { kind: 'retry', group }, error)
  }
}

// Failures of the host. The others are this server's own, or concern the answer.
const unreached: ReadonlySet<EgressError['reason']> = new Set([
  'unknown-host',
  'dns',
  'connect',
  'tls',
  'timeout',
])

/** A web page that answers 200 to everything has not received anything. */
function readReceipt(answer: EgressAnswer, actionId: ActionId): Receipt | undefined {
  if (answer.status !== 200 && answer.status !== 202) return undefined
  const document = readJson(answer.body) as
    | { data?: { actionId?: unknown; verified?: unknown } }
    | null
    | undefined
  const data = document?.data
  return data?.actionId === actionId ? { isVerified: data.verified !== false } : undefined
}

/** The server does not know the recipients, or no longer has an inbox. */
export class GoneError extends JobVerdict {
  constructor(status: number) {
    super(`HTTP ${status}`, { kind: 'dead' })
  }
}

function verdictOn(answer: EgressAnswer, nowMs: number): JobVerdict {
  const group = wordOn(answer)
  if (answer.status === 404 || answer.status === 410) return new GoneError(answer.status)
  if (finalStatuses.has(answer.status))
    return new JobVerdict(`HTTP ${answer.status}`, { kind: 'dead', group })
  const atMs = retryAfterMs(answer.headers['retry-after'], nowMs)
  return new JobVerdict(describe(answer), { kind: 'retry', group, ...(atMs === undefined ? {} : { atMs }) })
}

/** The verdict on the host: one that answers works; 429 may be meant for one issuer or for all. A host that postpones
 * one token has checked it. */
function wordOn({ status, body }: EgressAnswer): GroupVerdict {
  if (status === 503 && concernsToken(body)) return 'works'
  if (status >= 500) return 'failed'
  return status === 429 ? 'nothing' : 'works'
}

function concernsToken(body: Uint8Array): boolean {
  const document = readJson(body) as { error?: { details?: { concerns?: unknown } } } | null | undefined
  return document?.error?.details?.concerns === 'token'
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}

function describe(answer: EgressAnswer): string {
  return answer.status < 300 ? `HTTP ${answer.status} without a receipt` : `HTTP ${answer.status}`
}
