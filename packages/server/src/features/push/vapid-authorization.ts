import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import type { VapidKeyPair } from './get-vapid-key.ts'

const halfDaySecs = 12 * 60 * 60

/** The `Authorization` with which a tenant introduces itself to a push service (RFC 8292). `contact` is an https URL where
 * the tenant is found. */
export async function vapidAuthorization(
  { publicKey, privateKey }: VapidKeyPair,
  { endpoint, contact, now }: { readonly endpoint: string; readonly contact: string; readonly now: number },
): Promise<string> {
  const token = await new SignJWT()
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .setAudience(new URL(endpoint).origin)
    .setSubject(contact)
    .setExpirationTime(now + halfDaySecs)
    .sign(createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }))
  return `vapid t=${token}, k=${publicKey}`
}
