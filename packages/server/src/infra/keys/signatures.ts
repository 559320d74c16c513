import { type KeyObject, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import type { Signatures } from './keys.ts'

const signAside = promisify(sign)
const verifyAside = promisify(verify)

const digest = 'sha384'
// r ‖ s, as in JWS (RFC 7518, section 3.4); the default of the library is DER.
const dsaEncoding = 'ieee-p1363'

// The pool has four threads and one operation takes about a millisecond. So many at once keep them busy while this thread
// waits for a commit, and end together, so that the next commit is shared. Neither kind takes all of it, so that a flood of
// tokens to verify does not delay signing; files and names wait for six rounds at most.
const atOnce = { total: 24, perKey: 16 }
// About two seconds of work.
const defaultMaxWaiting = 3000

// Addresses take turns, so that a flood of forged bearers from one does not delay the others.
const ofAskers = { total: 256, perKey: 2, waitingPerKey: 512 }

/** ES384 operations that share the thread pool with everything else in this process. `maxWaiting` counts signatures and
 * verifications apart. */
export function openSignatures({ maxWaiting = defaultMaxWaiting } = {}): Signatures {
  const gate = new Gate({ ...atOnce, waitingPerKey: maxWaiting, waiting: 2 * maxWaiting })
  const askers = new Gate({ ...ofAskers, waiting: maxWaiting })
  return {
    async sign(signingInput, key) {
      if (!isP384(key, 'private')) throw new TypeError('ES384 signs with a private P-384 key')
      return throughGate(gate, 'sign', () =>
        signAside(digest, Buffer.from(signingInput), { key, dsaEncoding }),
      )
    },
    async verify(signingInput, signature, key, asker) {
      if (signature.length !== 96 || !isP384(key, 'public')) return false
      const verifyOne = () =>
        throughGate(gate, 'verify', () =>
          verifyAside(digest, Buffer.from(signingInput), { key, dsaEncoding }, signature),
        )
      return asker === undefined ? verifyOne() : throughGate(askers, asker, verifyOne)
    },
  }
}

function isP384(key: KeyObject, type: 'private' | 'public'): boolean {
  return (
    key.type === type &&
    key.asymmetricKeyType === 'ec' &&
    key.asymmetricKeyDetails?.namedCurve === 'secp384r1'
  )
}

async function throughGate<Result>(gate: Gate, key: string, work: () => Promise<Result>): Promise<Result> {
  const leave = await gate.enter(key).catch((error: unknown) => {
    if (!(error instanceof GateFullError)) throw error
    throw new Failure('E-UNAVAILABLE', { cause: error, retryAfterSecs: 5 })
  })
  try {
    return await work()
  } finally {
    leave()
  }
}
