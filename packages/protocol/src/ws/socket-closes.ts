/** Why the server ends a WebSocket (docs/protocol/realtime.md). `comesBack`: whether a client
 * should connect again by itself. */
export const socketCloses = {
  unauthenticated: { code: 1008, reason: 'authentication failed', comesBack: false },
  disorderly: { code: 1008, reason: 'too many messages that are none of the protocol', comesBack: false },
  tooLarge: { code: 1009, reason: 'message too large', comesBack: false },
  failed: { code: 1011, reason: 'the store failed', comesBack: true },
  restarting: { code: 1012, reason: 'the server restarts', comesBack: true },
  overloaded: { code: 1013, reason: 'too much at once: connect again', comesBack: true },
  forbidden: { code: 4403, reason: 'the right is missing or was withdrawn', comesBack: false },
  notFound: { code: 4404, reason: 'not found', comesBack: false },
  full: { code: 4413, reason: 'the document, the database or the quota is full', comesBack: false },
  wrongType: { code: 4409, reason: 'the file is of another type', comesBack: false },
} as const satisfies Readonly<
  Record<string, { readonly code: number; readonly reason: string; readonly comesBack: boolean }>
>

export type SocketClose = keyof typeof socketCloses

/** Whether it comes a second after the upgrade at the earliest: most stock clients connect again at once after these as after all others. */
export function isClosedLate(why: SocketClose): boolean {
  const { code } = socketCloses[why]
  return code === 1008 || code >= 4400
}

/** Whether a client should connect again after a close with this code; true for codes that are not the server's own
 * (the connection broke, a proxy went away). */
export function comesBackAfter(code: number): boolean {
  return Object.values(socketCloses).find((close) => close.code === code)?.comesBack ?? true
}

/** No frame of a client is longer, in bytes. */
export const maxFrameBytes = 4 * 1024 ** 2
/** No message of a client, of however many frames, is longer, in bytes. */
export const maxMessageBytes = 16 * 1024 ** 2
