import { historyLimits, type IdTag } from '@kith/protocol'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Tenant } from '#infra/caller/index.ts'
import { type Egress, type EgressAnswer, EgressError } from '#infra/egress/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'

export interface RequestHistoryDeps {
  readonly egress: Pick<Egress, 'request'>
  readonly findServer: (
    idTag: IdTag,
  ) => Promise<
    { kind: 'found'; serverUrl: string } | { kind: 'unknown'; isGone?: true } | { kind: 'unreachable' }
  >
  /** A proxy token of the tenant for the identity. */
  readonly proxyToken: (tenant: Tenant, target: IdTag) => Promise<string>
}

const answerSchema = Compile(Type.Object({ data: Type.Object({ items: Type.Array(Type.String()) }) }))

/** Requests the history of an identity from its server, as the tenant. A server without this endpoint gives an empty
 * one. */
export async function requestHistory(
  deps: RequestHistoryDeps,
  question: { readonly tenant: Tenant; readonly idTag: IdTag; readonly since: number },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { tenant, idTag, since } = question
  const server = await deps.findServer(idTag)
  if (server.kind === 'unknown' && server.isGone) return []
  if (server.kind !== 'found') throw retry('its server cannot be reached')
  const bearer = await deps.proxyToken(tenant, idTag)
  const answer = await ask(deps, {
    url: `${server.serverUrl}/api/outbox?since=${since}&limit=${historyLimits.maxItems}`,
    headers: { accept: 'application/json', authorization: `Bearer ${bearer}` },
    signal,
  })
  if (isForNow(answer.status)) throw retry(`HTTP ${answer.status}`)
  return answer.status === 200 ? itemsOf(answer) : []
}

/** A server whose clock is off does not accept the token: it may have been set by the next time. */
function isForNow(status: number): boolean {
  return status === 401 || status === 429 || status >= 500
}

async function ask(
  { egress }: RequestHistoryDeps,
  request: { readonly url: string; readonly headers: Record<string, string>; readonly signal: AbortSignal },
): Promise<EgressAnswer> {
  try {
    return await egress.request({ method: 'GET', ...request })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    throw retry(`${error.reason}: ${error.message}`, error)
  }
}

function itemsOf(answer: EgressAnswer): readonly string[] {
  try {
    const document: unknown = JSON.parse(Buffer.from(answer.body).toString('utf8'))
    return answerSchema.Check(document) ? document.data.items : []
  } catch {
    // The answer is the page of a proxy, not the server's.
    throw retry('the answer is no JSON')
  }
}

function retry(message: string, cause?: unknown): JobVerdict {
  return new JobVerdict(message, { kind: 'retry' }, cause)
}
