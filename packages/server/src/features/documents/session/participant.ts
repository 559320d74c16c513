import type { IdTag, SocketClose } from '@kith/protocol'

/** A client with the document open. */
export interface Participant {
  /** Undefined for guests. */
  readonly idTag: IdTag | undefined
  /** Sends a frame; `isAnswer`: it contains an update of this participant. */
  send(frame: Uint8Array, isAnswer?: boolean): void
  /** The client sent something malformed. */
  noteMistake(): void
  /** An update of the client has changed the document. */
  noteWritten(): void
  close(why: SocketClose): void
}
