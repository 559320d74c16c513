import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  type JsonGeneralNames,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 24 * 60 * 60 * 1000

/** A self-signed certificate for some host names and addresses, and its key, as PEM. */
export async function createCertificate(names: readonly string[]): Promise<{ cert: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const alternatives: JsonGeneralNames = names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }))
  const nowMs = Date.now()
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${names[0]}`,
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(nowMs - dayMs),
      notAfter: new Date(nowMs + dayMs),
      extensions: [new SubjectAlternativeNameExtension(alternatives)],
    },
    webcrypto,
  )
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  const lines = pkcs8.toString('base64').match(/.{1,64}/g) ?? []
  return {
    cert: certificate.toString('pem'),
    key: ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n'),
  }
}
