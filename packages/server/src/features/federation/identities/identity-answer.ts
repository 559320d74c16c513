import type { PublishedIdentity } from './identity.ts'
import { type DocumentRules, parseIdentityDocument } from './identity-document.ts'

/** The answer of a server that was asked about an identity. */
interface IdentityAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type AnswerVerdict =
  | { readonly kind: 'found'; readonly identity: PublishedIdentity; readonly etag: string | undefined }
  | { readonly kind: 'not-modified' }
  /** `isGone`: the server says that there is none. Otherwise it did not answer this question, like a proxy whose server
   * is down. */
  | { readonly kind: 'unknown'; readonly isGone?: true }
  /** `retryAfterSecs` if the server asks for a delay. */
  | { readonly kind: 'unreachable'; readonly retryAfterSecs?: number }

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i
const etagForm = /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/

/** What an answer says about an identity (docs/protocol/discovery.md, section 4): 429 and 5xx say nothing; everything
 * else that is no valid document says that there is none. */
export function readIdentityAnswer(answer: IdentityAnswer, rules: DocumentRules): AnswerVerdict {
  const { status, headers } = answer
  if (status === 429 || status >= 500) return { kind: 'unreachable', ...retryAfter(headers['retry-after']) }
  if (status === 304) return { kind: 'not-modified' }
  if (status === 404 || status === 410) return { kind: 'unknown', isGone: true }
  if (status !== 200 || !jsonType.test(headers['content-type'] ?? '')) return malformed
  const text = decodeUtf8(answer.body)
  const identity = text === undefined ? undefined : parseIdentityDocument(text, rules)
  if (!identity) return malformed
  const { etag = '' } = headers
  return { kind: 'found', identity, etag: etagForm.test(etag) ? etag : undefined }
}

const malformed = { kind: 'unknown' } as const

function retryAfter(header: string | undefined): { retryAfterSecs?: number } {
  return header !== undefined && /^\d{1,6}$/.test(header) ? { retryAfterSecs: Number(header) } : {}
}

function decodeUtf8(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}
