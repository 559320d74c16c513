import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { Kith, tempDir } from '../kith.ts'
import { type Figure, median, rateFigure, repeat } from '../measure.ts'
import { peerTag, seed, seedPeers } from '../seed.ts'
import { newNonce, ownActionId } from '../server-modules.ts'
import type { Settings } from '../settings.ts'
import { costs, rates } from './reads.ts'
import { signatureRates } from './signature-rates.ts'

const issuers = 50
const connections = 32
// More than can be verified in the time.
const tokensPerSecond = 1800

/** Signed posts of many issuers, each delivered once; the rate counts answers that say they are verified and stored. */
export async function inbox(settings: Settings): Promise<Figure[]> {
  const { runs, seconds } = settings
  await using data = await tempDir()
  const keys = Array.from({ length: issuers }, () => generateKeyPairSync('ec', { namedCurve: 'P-384' }))
  await seed(data.path, async (db, tenantId) => {
    const peers = keys.map(({ publicKey }, at) => ({
      idTag: peerTag(at),
      inboxUrl: 'http://127.0.0.1:9/api/inbox',
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    }))
    await seedPeers(db, tenantId, peers)
  })
  const ceiling = {
    name: 'P-384 verification alone',
    value: median((await signatureRates(settings)).map(({ verified }) => verified)),
  }
  const warmUp = Math.ceil((seconds / 4) * tokensPerSecond)
  const results = await repeat(runs, async () => {
    const bodies = Array.from({ length: warmUp + Math.ceil(seconds * tokensPerSecond) }, (_, at) => {
      const issuer = at % issuers
      return tokenOf(peerTag(issuer), keys[issuer]?.privateKey)
    })
    await using kith = await Kith.start(data.path, settings)
    const deliver = (tokens: readonly string[], forSeconds: number) =>
      kith.load({
        path: '/api/inbox',
        method: 'POST',
        headers: { 'content-type': 'application/jwt' },
        bodies: tokens,
        once: true,
        connections,
        seconds: forSeconds,
        manyAddresses: true,
      })
    await deliver(bodies.slice(0, warmUp), seconds / 4)
    return await deliver(bodies.slice(warmUp), seconds)
  })
  const figure = rateFigure(`inbox deliveries of ${issuers} issuers`, rates(results), ceiling, 0.7)
  return [{ ...figure, ...costs(results) }]
}

/** A public post, as its issuer's server would sign it now. */
export function tokenOf(issuerTag: IdTag, key: KeyObject | undefined): string {
  if (!key) throw new Error('an issuer has no key')
  const now = Math.floor(Date.now() / 1000)
  const nonce = newNonce()
  const payload = {
    actionId: ownActionId(issuerTag, nonce),
    type: 'POST',
    issuerTag,
    content: { text: 'A post from elsewhere' },
    visibility: 'P',
    nonce,
    createdAt: now,
    iat: now,
    exp: now + 86_400,
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encode({ alg: 'ES384', typ: 'JWT', kid: '20260101aaaa' })}.${encode(payload)}`
  const signature = sign('sha384', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}
