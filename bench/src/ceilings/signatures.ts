import { generateKeyPair, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { readInput } from '../processes.ts'

/** P-384 alone, with as many under way as the thread pool takes: how many signatures or verifications a second. */
const { seconds } = await readInput<{ seconds: number }>()
const { privateKey, publicKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-384' })
const message = Buffer.alloc(600, 'x')
const signOne = promisify(sign)
const verifyOne = promisify(verify)
const signature = await signOne('sha384', message, { key: privateKey, dsaEncoding: 'ieee-p1363' })

async function rate(one: () => Promise<unknown>): Promise<number> {
  let done = 0
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  const worker = async () => {
    while (performance.now() < endsAt) {
      await one()
      done += 1
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  return done / ((performance.now() - startedAt) / 1000)
}

const signed = await rate(() => signOne('sha384', message, { key: privateKey, dsaEncoding: 'ieee-p1363' }))
const verified = await rate(() =>
  verifyOne('sha384', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature),
)
process.stdout.write(JSON.stringify({ signed, verified }))
