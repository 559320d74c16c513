import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** A certificate with those above it that was looked at: it can be served with its key. */
export interface CheckedChain {
  readonly pem: string
  /** Unix seconds. */
  readonly notBefore: number
  readonly notAfter: number
}

const blockForm = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const maxCertificates = 10
const servedCurves = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/** Why a chain cannot be served, as a sentence. */
export class ChainError extends Error {
  override readonly name = 'ChainError'
}

/** Reads PEM text, of which nothing but certificates remains. Throws a `ChainError` when it cannot be served with the key. */
export function checkChain(text: string, key: string): CheckedChain {
  const blocks = text.match(blockForm) ?? []
  if (blocks.length === 0) throw new ChainError('There is no certificate in PEM form.')
  if (blocks.length > maxCertificates) throw new ChainError('There are too many certificates.')
  const [leaf, ...above] = blocks.map(readCertificate)
  if (!leaf) throw new ChainError('There is no certificate in PEM form.')
  const privateKey = readKey(key)
  const curve = privateKey.asymmetricKeyDetails?.namedCurve
  if (curve !== undefined && !servedCurves.has(curve))
    throw new ChainError(
      `The key is on the curve ${curve}, which clients do not take: P-256 is taken by all.`,
    )
  if (!leaf.checkPrivateKey(privateKey)) throw new ChainError('The certificate belongs to another key.')
  let below = leaf
  for (const issuer of above) {
    if (!below.checkIssued(issuer))
      throw new ChainError(
        'The certificates are not in order: each is to be followed by the one that issued it.',
      )
    below = issuer
  }
  const pem = `${blocks.map((block) => block.trim()).join('\n')}\n`
  try {
    createSecureContext({ cert: pem, key })
  } catch (cause) {
    throw new ChainError('The certificate is of a kind that cannot be served.', { cause })
  }
  return { pem, notBefore: secsOf(leaf.validFrom), notAfter: secsOf(leaf.validTo) }
}

/** Whether the first certificate of a chain is for a name. */
export function isForName(chain: string, name: string): boolean {
  return new X509Certificate(chain).checkHost(name, { subject: 'never', wildcards: true }) !== undefined
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw new ChainError('The certificate cannot be read.', { cause })
  }
}

function readKey(pem: string) {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new ChainError('The private key cannot be read: it must be PEM without a password.', { cause })
  }
}

const secsOf = (text: string) => Math.floor(Date.parse(text) / 1000)
