import { type Egress, EgressError } from '#infra/egress/index.ts'
import { discoveryNames } from './find-server.ts'
import { type AnswerVerdict, readIdentityAnswer } from './identity-answer.ts'
import type { DocumentRules } from './identity-document.ts'

export interface FetchIdentityDeps {
  readonly egress: Pick<Egress, 'request'>
  /** `DISCOVERY_NAME`. */
  readonly discoveryName: string
}

interface IdentityQuestion extends DocumentRules {
  readonly server: string
  /** The ETag of the stored answer. */
  readonly etag: string | undefined
}

export type FetchVerdict = AnswerVerdict | { readonly kind: 'no-such-host' }

const malformed = { kind: 'unknown' } as const
const maxDocumentBytes = 64 * 1024
// Failures that a second request would not change.
const finalReasons: ReadonlySet<EgressError['reason']> = new Set(['refused', 'too-large', 'redirect'])

/** Asks one server about one identity, under the discovery name of this server and, if that is unknown there, under the
 * common one. */
export async function fetchIdentity(
  deps: FetchIdentityDeps,
  question: IdentityQuestion,
): Promise<FetchVerdict> {
  let verdict: FetchVerdict = { kind: 'unknown' }
  for (const word of discoveryNames(deps.discoveryName)) {
    verdict = await fetchUnder(deps, word, question)
    if (verdict.kind !== 'unknown') break
  }
  return verdict
}

async function fetchUnder(
  deps: FetchIdentityDeps,
  word: string,
  question: IdentityQuestion,
): Promise<FetchVerdict> {
  const { server, idTag, etag } = question
  try {
    const answer = await deps.egress.request({
      method: 'GET',
      url: `${server}/.well-known/${word}/id-tag?idTag=${encodeURIComponent(idTag)}`,
      headers: {
        accept: 'application/json',
        // The document may be cached publicly, but after a key rotation the new one is needed.
        'cache-control': 'no-cache',
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      maxBytes: maxDocumentBytes,
    })
    const verdict = readIdentityAnswer(answer, question)
    return verdict.kind === 'not-modified' && etag === undefined ? malformed : verdict
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    if (error.reason === 'unknown-host') return { kind: 'no-such-host' }
    return finalReasons.has(error.reason) ? malformed : { kind: 'unreachable' }
  }
}
