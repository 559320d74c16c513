import { crdtMessages, crdtSyncSteps } from '@kith/protocol'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

/** A parsed binary frame of the server (docs/protocol/realtime.md, `/ws/crdt`). `bytes` is a state vector for `step1`, a Yjs
 * update for `step2` and `update`, and an awareness update for `awareness`. */
export type ServerFrame =
  | { readonly kind: 'step1' | 'step2' | 'update' | 'awareness'; readonly bytes: Uint8Array }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'other' }

/** Parses one binary frame. Throws when it is cut short; unknown messages are `other`. */
export function parseFrame(frame: Uint8Array): ServerFrame {
  const decoder = decoding.createDecoder(frame)
  switch (decoding.readVarUint(decoder)) {
    case crdtMessages.sync:
      return parseSync(decoder)
    case crdtMessages.awareness:
      return { kind: 'awareness', bytes: decoding.readVarUint8Array(decoder) }
    case crdtMessages.auth:
      decoding.readVarUint(decoder)
      return { kind: 'denied', reason: decoding.readVarString(decoder) }
    default:
      return { kind: 'other' }
  }
}

function parseSync(decoder: decoding.Decoder): ServerFrame {
  const step = decoding.readVarUint(decoder)
  const bytes = decoding.readVarUint8Array(decoder)
  if (step === crdtSyncSteps.step1) return { kind: 'step1', bytes }
  return { kind: step === crdtSyncSteps.step2 ? 'step2' : 'update', bytes }
}

/** A sync message: `bytes` is a state vector for `step1`, and a Yjs update otherwise. */
export function syncFrame(step: keyof typeof crdtSyncSteps, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return frameOf((encoder) => {
    encoding.writeVarUint(encoder, crdtMessages.sync)
    encoding.writeVarUint(encoder, crdtSyncSteps[step])
    encoding.writeVarUint8Array(encoder, bytes)
  })
}

/** An awareness message, from `encodeAwarenessUpdate`. */
export function awarenessFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return frameOf((encoder) => {
    encoding.writeVarUint(encoder, crdtMessages.awareness)
    encoding.writeVarUint8Array(encoder, bytes)
  })
}

/** Asks for the awareness states of all clients; the server always answers, so it serves as a ping. */
export function queryAwarenessFrame(): Uint8Array<ArrayBuffer> {
  return frameOf((encoder) => encoding.writeVarUint(encoder, crdtMessages.queryAwareness))
}

function frameOf(write: (encoder: encoding.Encoder) => void): Uint8Array<ArrayBuffer> {
  const encoder = encoding.createEncoder()
  write(encoder)
  return encoding.toUint8Array(encoder) as Uint8Array<ArrayBuffer>
}
