import { X509Certificate } from 'node:crypto'
import type { Authorization } from 'acme-client'
import type { KeyPair } from '../certificates.ts'
import { acmeLibrary } from './acme-library.ts'

/** A new private key for an account or a certificate (P-256), as PEM. */
export async function newPrivateKey(): Promise<string> {
  const { crypto } = await acmeLibrary()
  return String(await crypto.createPrivateEcdsaKey())
}

/** Asks for a certificate for a name and a key (PKCS #10, PEM). */
export async function certificateRequest(name: string, key: string): Promise<string> {
  const { crypto } = await acmeLibrary()
  const [, request] = await crypto.createCsr({ altNames: [name] }, key)
  return String(request)
}

/** The certificate that answers a challenge of the type tls-alpn-01; it is good for nothing else. */
export async function challengeCertificate(name: string, keyAuthorization: string): Promise<KeyPair> {
  const { crypto } = await acmeLibrary()
  const key = await newPrivateKey()
  const authorization = { identifier: { type: 'dns', value: name } } as Authorization
  const [, cert] = await crypto.createAlpnCertificate(authorization, keyAuthorization, key)
  return { cert: String(cert), key }
}

/** How an authority calls a certificate that it has issued (RFC 9773 section 4.1); undefined for one that does not say who
 * issued it. */
export async function certificateId(chain: string): Promise<string | undefined> {
  const { AuthorityKeyIdentifierExtension, X509Certificate: Parsed } = await x509()
  const parsed = new Parsed(new X509Certificate(chain).raw)
  const keyId = parsed.getExtension(AuthorityKeyIdentifierExtension)?.keyId
  if (keyId === undefined) return undefined
  const serial = Buffer.from(
    parsed.serialNumber.padStart(2 * Math.ceil(parsed.serialNumber.length / 2), '0'),
    'hex',
  )
  // As an integer is written: one whose first bit is set would be negative.
  const integer = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial
  return `${Buffer.from(keyId, 'hex').toString('base64url')}.${integer.toString('base64url')}`
}

// Imported only here: a server that gets no certificates does not need its memory.
async function x509() {
  await import('reflect-metadata')
  return await import('@peculiar/x509')
}
