import { createHmac, timingSafeEqual } from 'node:crypto'
import type { QuerySignature } from './query.ts'
import { metaTypes } from './records.ts'
import { nameBytes } from './wire-writer.ts'

/** A shared secret with which messages are signed (RFC 8945). */
export interface TransferKey {
  readonly name: string
  readonly secret: Uint8Array
}

const algorithm = 'hmac-sha256'
const macBytes = 32
const anyClass = 255
const fudgeSecs = 300
const signatureErrors = { BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const
type SignatureError = keyof typeof signatureErrors

/** The result of checking a query's signature, and the signer of its answers. */
export interface Signing {
  readonly isSigned: boolean
  readonly error: SignatureError | 'FORMERR' | undefined
  /** By which signatures make a message longer. */
  readonly bytes: number
  /** Signs the next message of the answer; returns it unchanged for a query without signature. */
  seal(message: Buffer): Buffer
}

export const unsigned: Signing = {
  isSigned: false,
  error: undefined,
  bytes: 0,
  seal: (message) => message,
}

/** Checks the signature of a query, if it has one. */
export function openSigning(
  signature: QuerySignature | undefined,
  { key, nowSecs }: { readonly key: TransferKey | undefined; readonly nowSecs: () => number },
): Signing {
  if (!signature) return unsigned
  const error = findError(signature, key, nowSecs())
  if (error === 'FORMERR') return { ...unsigned, error }
  // These two errors are answered unsigned: the two sides share no key (RFC 8945 section 5.2).
  if (!key || error === 'BADKEY' || error === 'BADSIG') {
    const told = error ?? 'BADKEY'
    const seal = (message: Buffer) => withSignatureError(message, signature, told)
    return { isSigned: true, error: told, bytes: recordBytes(signature, 0), seal }
  }
  const signer = new ResponseSigner(key, signature, nowSecs)
  const bytes = recordBytes({ keyName: key.name, algorithm }, macBytes + (error === 'BADTIME' ? 6 : 0))
  return { isSigned: true, error, bytes, seal: (message) => signer.sign(message, error) }
}

/** Signs a message that is no answer (RFC 8945 section 5.1). */
export function signRequest(key: TransferKey, message: Buffer, nowSecs: number): Buffer {
  const times = { signedAt: nowSecs, fudgeSecs, error: 0, other: Buffer.alloc(0) }
  const mac = createHmac('sha256', key.secret).update(message).update(variables(key, times)).digest()
  const originalId = message.readUInt16BE(0)
  return withSignature(message, { ...times, keyName: key.name, algorithm, mac, originalId })
}

/** In the order of RFC 8945 section 5.2: the last two are answered signed, so the signature must be right. */
function findError(signature: QuerySignature, key: TransferKey | undefined, now: number): Signing['error'] {
  if (!key || signature.keyName !== key.name || signature.algorithm !== algorithm) return 'BADKEY'
  const expected = createHmac('sha256', key.secret)
    .update(signature.message)
    .update(variables(key, signature))
    .digest()
  const { mac } = signature
  if (mac.length > expected.length || mac.length < expected.length / 2) return 'FORMERR'
  if (!timingSafeEqual(mac, expected.subarray(0, mac.length))) return 'BADSIG'
  const allowedSecs = Math.min(signature.fudgeSecs, fudgeSecs)
  if (Math.abs(now - signature.signedAt) > allowedSecs) return 'BADTIME'
  return mac.length < expected.length ? 'BADTRUNC' : undefined
}

/** Signs the messages that answer one query, each over the signature before it. */
class ResponseSigner {
  readonly #key: TransferKey
  readonly #query: QuerySignature
  readonly #nowSecs: () => number
  #previousMac: Buffer
  #isFirst = true

  constructor(key: TransferKey, signature: QuerySignature, nowSecs: () => number) {
    this.#key = key
    this.#query = signature
    this.#nowSecs = nowSecs
    this.#previousMac = signature.mac
  }

  sign(message: Buffer, error: SignatureError | undefined): Buffer {
    const query = this.#query
    const signedAt = error === 'BADTIME' ? query.signedAt : this.#nowSecs()
    const other = error === 'BADTIME' ? number(this.#nowSecs(), 6) : Buffer.alloc(0)
    const times = { signedAt, fudgeSecs, error: error ? signatureErrors[error] : 0, other }
    const length = number(this.#previousMac.length, 2)
    const mac = createHmac('sha256', this.#key.secret)
      .update(Buffer.concat([length, this.#previousMac, message]))
      // Messages after the first sign their times alone (section 5.3.1).
      .update(this.#isFirst ? variables(this.#key, times) : timers(times))
      .digest()
    this.#previousMac = mac
    this.#isFirst = false
    return withSignature(message, { ...query, ...times, keyName: this.#key.name, algorithm, mac })
  }
}

/** Adds a TSIG record with an error and an empty signature. */
function withSignatureError(message: Buffer, query: QuerySignature, error: SignatureError): Buffer {
  const empty = Buffer.alloc(0)
  return withSignature(message, { ...query, error: signatureErrors[error], mac: empty, other: empty })
}

interface Times {
  readonly signedAt: number
  readonly fudgeSecs: number
  readonly error: number
  readonly other: Buffer
}

function variables({ name }: TransferKey, times: Times): Buffer {
  const head = [nameBytes(name), number(anyClass, 2), number(0, 4), nameBytes(algorithm), timers(times)]
  return Buffer.concat([...head, number(times.error, 2), number(times.other.length, 2), times.other])
}

function timers({ signedAt, fudgeSecs: fudge }: Times): Buffer {
  return Buffer.concat([number(signedAt, 6), number(fudge, 2)])
}

function withSignature(message: Buffer, record: Times & Omit<QuerySignature, 'message'>): Buffer {
  const { keyName, mac, originalId, error, other } = record
  const data = Buffer.concat([
    ...[nameBytes(record.algorithm), timers(record), number(mac.length, 2), mac],
    ...[number(originalId, 2), number(error, 2), number(other.length, 2), other],
  ])
  const head = [nameBytes(keyName), number(metaTypes.TSIG, 2), number(anyClass, 2), number(0, 4)]
  const signed = Buffer.concat([message, ...head, number(data.length, 2), data])
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
  return signed
}

/** The length of a TSIG record with so many bytes of signature and other data. */
function recordBytes(
  { keyName, algorithm: name }: Pick<QuerySignature, 'keyName' | 'algorithm'>,
  dataBytes: number,
): number {
  const rest = 26
  return nameBytes(keyName).length + nameBytes(name).length + rest + dataBytes
}

function number(value: number, bytes: 2 | 4 | 6): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}
