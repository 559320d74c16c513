import { type Egress, EgressError } from '#infra/egress/index.ts'
import { type AnswerVerdict, readIdentityAnswer } from './identity-answer.ts'
import type { DocumentRules } from './identity-document.ts'

export interface FetchIdentityDeps {
  readonly egress: Pick<Egress, 'request'>
  /** `DISCOVERY_NAME`. */
  readonly discoveryName: string
}

export interface IdentityQuestion extends DocumentRules {
  readonly server: string
  /** Of the answer that is known already. */
  readonly etag: string | undefined
}

export type FetchVerdict = AnswerVerdict | { readonly kind: 'no-such-host' }

const maxDocumentBytes = 64 * 1024
// What the server or its operator decided will not change by asking again.
const finalReasons: ReadonlySet<EgressError['reason']> = new Set(['refused', 'too-large', 'redirect'])

/** Asks one server about one identity. */
export async function fetchIdentity(
  deps: FetchIdentityDeps,
  question: IdentityQuestion,
): Promise<FetchVerdict> {
  const { server, idTag, etag } = question
  try {
    const answer = await deps.egress.request({
      method: 'GET',
      url: `${server}/.well-known/${deps.discoveryName}/id-tag?idTag=${encodeURIComponent(idTag)}`,
      headers: {
        accept: 'application/json',
        // The document may be cached publicly; who asks after a rotation needs the new one.
        'cache-control': 'no-cache',
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      maxBytes: maxDocumentBytes,
    })
    const verdict = readIdentityAnswer(answer, question)
    return verdict.kind === 'not-modified' && etag === undefined ? { kind: 'unknown' } : verdict
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    if (error.reason === 'unknown-host') return { kind: 'no-such-host' }
    return { kind: finalReasons.has(error.reason) ? 'unknown' : 'unreachable' }
  }
}
