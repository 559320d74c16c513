import type { SocketContract } from './socket-contract.ts'

/** A collaborative document (docs/protocol/realtime.md): y-protocols sync and awareness, one message for each frame. */
export const crdtSocket = {
  name: 'openDocument',
  path: '/ws/crdt/{fileId}',
  summary: 'A collaborative document, for stock clients of Yjs',
  auth: 'optional',
  gateway: 'file-tokens',
  scope: 'read:files',
  guests: true,
  frames: 'binary',
  // A bound for floods alone: stock clients send back what a hundred others show of themselves 20 times a second.
  messagesPerMinute: 120_000,
  messageUnitBytes: 1024,
  // A long absence comes as one frame.
  largest: { frameBytes: 64 * 1024 ** 2, messageBytes: 64 * 1024 ** 2 },
} as const satisfies SocketContract

/** First number of a frame: what it is. */
export const crdtMessages = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3 } as const
/** Second number of a `sync` frame. */
export const crdtSyncSteps = { step1: 0, step2: 1, update: 2 } as const

/** Bounds of a document and of the states of those who look at it. */
export const crdtLimits = {
  documentBytes: 64 * 1024 ** 2,
  /** New edits of a connection; each counts for `leastEditBytes` or more. */
  editBytesPerMinute: 64 * 1024 ** 2,
  leastEditBytes: 1024,
  /** Answers to a connection's steps 1 and queries; each counts for `leastAnswerBytes` or more. */
  answerBytesPerMinute: 256 * 1024 ** 2,
  leastAnswerBytes: 16 * 1024,
  awarenessStateBytes: 16 * 1024,
  /** New states of a connection. */
  awarenessPerSecond: 60,
  awarenessBytesPerSecond: 256 * 1024,
  awarenessClientsPerConnection: 8,
} as const
