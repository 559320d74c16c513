const mebibyte = 1024 * 1024

/** Bounds of what host and app send each other. */
export const flowLimits = {
  /** The largest message of a WebSocket, as the server takes it. */
  messageBytes: { crdt: 64 * mebibyte, rtdb: 16 * mebibyte },
  /** The app keeps at most this much on its way to the network, and one message. */
  windowCost: mebibyte,
  /** A host closes a socket (1013) of which the app has not processed this much. */
  unreceivedCost: 128 * mebibyte,
  /** Sockets of one app at a time, of each kind: one, and one that is being closed. */
  socketsOfKind: 2,
  /** Sockets that an app opens in a minute: a client that reconnects again and again stays below. */
  opensPerMinute: 30,
  /** Bytes of a file that are read at once. */
  readBytes: mebibyte,
  /** Readings of one app that are under way at a time. */
  readsAtOnce: 4,
} as const

// Bytes counted for each message besides its content, so that a flood of empty messages is limited too.
const messageCost = 256

/** The cost of a WebSocket message against these limits: about the bytes it takes in memory. */
export function costOf(data: string | ArrayBufferLike | ArrayBufferView): number {
  return (typeof data === 'string' ? data.length * 2 : data.byteLength) + messageCost
}

/** At least the bytes that text has in UTF-8, or the bytes. */
export function sizeOf(data: string | ArrayBuffer): number {
  return typeof data === 'string' ? data.length : data.byteLength
}
