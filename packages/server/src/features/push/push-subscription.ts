import { ECDH, hash } from 'node:crypto'
import { decodeBase64Url, type IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { ReceiverKeys } from './encrypt-payload.ts'

/** The push subscription of a browser (RFC 8030, RFC 8291). Its holder can send to that browser, so it is stored sealed. */
export interface PushTarget extends ReceiverKeys {
  /** The https URL of the push service, a capability URL. */
  readonly endpoint: string
}

export interface PushSubscription {
  readonly subscriptionId: number
  /** The identity that reads the pushes. */
  readonly subscriberTag: IdTag
  /** The session in which it was made, and with which it ends. */
  readonly sid: string
  readonly targetSealed: Uint8Array
  /** Unix seconds; undefined = until it is removed. */
  readonly expiresAt: number | undefined
}

const purpose = 'push.subscription'

// Of a point as browsers give it (RFC 8291 section 3.1). OpenSSL reads other forms of 65 bytes as well, which browsers do not
// find in what they are sent.
const uncompressed = 4

/** The keys of a subscription; undefined where they are not an uncompressed point on P-256 and 16 bytes, in base64url. */
export function readKeys(keys: { readonly p256dh: string; readonly auth: string }): ReceiverKeys | undefined {
  const p256dh = decodeBase64Url(unpadded(keys.p256dh))
  const auth = decodeBase64Url(unpadded(keys.auth))
  if (p256dh?.length !== 65 || p256dh[0] !== uncompressed || auth?.length !== 16) return undefined
  try {
    ECDH.convertKey(p256dh, 'prime256v1')
  } catch {
    return undefined
  }
  return { p256dh, auth }
}

/** Browsers give no padding; libraries between may add it. */
function unpadded(text: string): string {
  return text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text
}

/** The key by which a repeated subscription of the same endpoint replaces the one before. */
export function endpointHash(endpoint: string): string {
  return hash('sha256', endpoint, 'base64url')
}

export function sealTarget(
  vault: Vault,
  tenantId: TenantId,
  { endpoint, p256dh, auth }: PushTarget,
): Uint8Array {
  const [point, secret] = [p256dh, auth].map((key) => Buffer.from(key).toString('base64url'))
  return vault.seal(purpose, tenantId, Buffer.from(JSON.stringify([endpoint, point, secret])))
}

export function openTarget(vault: Vault, tenantId: TenantId, sealed: Uint8Array): PushTarget {
  const text = Buffer.from(vault.unseal(purpose, tenantId, sealed)).toString()
  const [endpoint, point, secret] = JSON.parse(text) as [string, string, string]
  return { endpoint, p256dh: Buffer.from(point, 'base64url'), auth: Buffer.from(secret, 'base64url') }
}
