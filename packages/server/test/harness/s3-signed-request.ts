import { createHash, createHmac } from 'node:crypto'

export interface SignedQuestion {
  readonly method: string
  /** As it was sent, with the query. */
  readonly target: string
  readonly host: string
  readonly secret: string
  readonly nowMs: number
}

/** What is wrong with a request that is signed in its query (Signature Version 4), as S3 names it; undefined for one that
 * is in order. Written by the description and not with the library that signs. */
export function signatureTrouble(question: SignedQuestion): string | undefined {
  const [path = '', search = ''] = question.target.split('?')
  const query = new URLSearchParams(search)
  const time = query.get('X-Amz-Date') ?? ''
  const [keyId, ...scope] = (query.get('X-Amz-Credential') ?? '').split('/')
  if (keyId === undefined || scope.length !== 4 || scope[0] !== time.slice(0, 8))
    return 'AuthorizationQueryParametersError'
  const signedMs = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  const aheadMs = 15 * 60_000
  if (signedMs > question.nowMs + aheadMs) return 'RequestNotYetValid'
  if (!(signedMs + Number(query.get('X-Amz-Expires')) * 1000 > question.nowMs)) return 'AccessDenied'
  const signed = search.split('&').filter((part) => !part.startsWith('X-Amz-Signature='))
  const canonical = [
    question.method,
    path,
    signed.sort().join('&'),
    `host:${question.host}\n`,
    'host',
    'UNSIGNED-PAYLOAD',
  ]
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical.join('\n'))].join('\n')
  const key = scope.reduce((secret, part) => hmac(secret, part), Buffer.from(`AWS4${question.secret}`))
  return hmac(key, text).toString('hex') === query.get('X-Amz-Signature')
    ? undefined
    : 'SignatureDoesNotMatch'
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
