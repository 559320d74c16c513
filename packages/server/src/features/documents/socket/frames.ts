import { crdtMessages, crdtSyncSteps } from '@kith/protocol'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

/** The state of one client of awareness, as it goes over the wire. */
export interface AwarenessEntry {
  readonly client: number
  readonly clock: number
  /** JSON; `null` for a client that went. */
  readonly state: string
}

export type CrdtFrame =
  | { readonly kind: 'step1'; readonly stateVector: Uint8Array }
  /** `bytes` is an update for step 2 as well. */
  | { readonly kind: 'update'; readonly update: Uint8Array }
  | { readonly kind: 'awareness'; readonly entries: readonly AwarenessEntry[] }
  | { readonly kind: 'queryAwareness' }
  /** A message type of another protocol or of a later version. */
  | { readonly kind: 'unknown' }

// Stock clients send back each message that they are told: the server tells no longer ones than half of what it reads.
const longestAwareness = 256 * 1024
const mostEntries = 1000
// The server adds 1 when it removes a client, and a client when it says something new.
const highestClock = 2 ** 52

/** Parses a frame of a client, without parsing updates and state vectors. Undefined when it is malformed. */
export function readFrame(bytes: Uint8Array): CrdtFrame | undefined {
  try {
    const decoder = decoding.createDecoder(bytes)
    switch (decoding.readVarUint(decoder)) {
      case crdtMessages.sync:
        return readSync(decoder)
      case crdtMessages.awareness:
        return bytes.length > longestAwareness ? undefined : readAwareness(decoder)
      case crdtMessages.queryAwareness:
        return { kind: 'queryAwareness' }
      default:
        return { kind: 'unknown' }
    }
  } catch {
    return undefined
  }
}

function readSync(decoder: decoding.Decoder): CrdtFrame {
  const step = decoding.readVarUint(decoder)
  if (step === crdtSyncSteps.step1) return { kind: 'step1', stateVector: decoding.readVarUint8Array(decoder) }
  if (step === crdtSyncSteps.step2 || step === crdtSyncSteps.update)
    return { kind: 'update', update: decoding.readVarUint8Array(decoder) }
  return { kind: 'unknown' }
}

function readAwareness(outer: decoding.Decoder): CrdtFrame | undefined {
  const decoder = decoding.createDecoder(decoding.readVarUint8Array(outer))
  const entries: AwarenessEntry[] = []
  const count = decoding.readVarUint(decoder)
  if (count > mostEntries) return undefined
  for (let at = 0; at < count; at += 1) {
    const client = decoding.readVarUint(decoder)
    const clock = decoding.readVarUint(decoder)
    const state = decoding.readVarString(decoder)
    if (clock <= highestClock) entries.push({ client, clock, state })
  }
  return { kind: 'awareness', entries }
}

export function stepOneFrame(stateVector: Uint8Array): Uint8Array {
  return syncFrame(crdtSyncSteps.step1, stateVector)
}

export function stepTwoFrame(update: Uint8Array): Uint8Array {
  return syncFrame(crdtSyncSteps.step2, update)
}

export function updateFrame(update: Uint8Array): Uint8Array {
  return syncFrame(crdtSyncSteps.update, update)
}

function syncFrame(step: number, bytes: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, crdtMessages.sync)
  encoding.writeVarUint(encoder, step)
  encoding.writeVarUint8Array(encoder, bytes)
  return encoding.toUint8Array(encoder)
}

/** The messages that tell these states, one at least. */
export function awarenessFrames(entries: readonly AwarenessEntry[]): Uint8Array[] {
  const frames: Uint8Array[] = []
  let from = 0
  let bytes = 0
  for (const [at, { state }] of entries.entries()) {
    bytes += Buffer.byteLength(state)
    if (at > from && (at - from >= mostEntries / 2 || bytes > longestAwareness / 2)) {
      frames.push(awarenessFrame(entries.slice(from, at)))
      from = at
      bytes = Buffer.byteLength(state)
    }
  }
  return [...frames, awarenessFrame(entries.slice(from))]
}

function awarenessFrame(entries: readonly AwarenessEntry[]): Uint8Array {
  const inner = encoding.createEncoder()
  encoding.writeVarUint(inner, entries.length)
  for (const { client, clock, state } of entries) {
    encoding.writeVarUint(inner, client)
    encoding.writeVarUint(inner, clock)
    encoding.writeVarString(inner, state)
  }
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, crdtMessages.awareness)
  encoding.writeVarUint8Array(encoder, encoding.toUint8Array(inner))
  return encoding.toUint8Array(encoder)
}

const permissionDenied = 0

/** Tells a client why what it sends has no effect. */
export function deniedFrame(reason: string): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, crdtMessages.auth)
  encoding.writeVarUint(encoder, permissionDenied)
  encoding.writeVarString(encoder, reason)
  return encoding.toUint8Array(encoder)
}
