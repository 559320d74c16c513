import type { Requirements } from '../contract.ts'

/** A path on which a protocol is spoken over a WebSocket, as data. Every path also takes from the bucket of upgrades. */
export interface SocketContract extends Requirements {
  readonly name: string
  /** With `{param}` placeholders. */
  readonly path: string
  readonly summary: string
  readonly frames: 'text' | 'binary'
  /** A client that sends more is read more slowly. */
  readonly messagesPerMinute: number
  /** A message counts once for each so many bytes, begun ones too. Missing: it counts once. */
  readonly messageUnitBytes?: number
  /** What a client may send at once, where it is more than the usual `maxFrameBytes` and `maxMessageBytes`. */
  readonly largest?: { readonly frameBytes: number; readonly messageBytes: number }
}
