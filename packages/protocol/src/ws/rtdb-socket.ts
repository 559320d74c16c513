import type { SocketContract } from './socket-contract.ts'

/** A real-time database (docs/protocol/realtime.md): JSON text, one flat object for each message. */
export const rtdbSocket = {
  name: 'openDatabase',
  path: '/ws/rtdb/{fileId}',
  summary: 'A real-time database: queries, subscriptions, transactions, locks and presence',
  auth: 'optional',
  gateway: 'file-tokens',
  scope: 'read:files',
  guests: true,
  frames: 'text',
  messagesPerMinute: 6000,
} as const satisfies SocketContract

export const rtdbLimits = {
  /** Of a path. */
  segments: 16,
  segmentCharacters: 128,
  documentBytes: 1024 ** 2,
  /** Different names of members, at every level of a document, and of one operation of a long transaction. Parsing an object
   * takes its time for each new name, and everybody else waits. */
  documentNames: 20_000,
  databaseBytes: 1024 ** 3,
  operations: 500,
  /** Of a request that is no transaction, and of any of a client that may not write. */
  requestCharacters: 64 * 1024,
  /** Of one operation of a transaction. */
  operationCharacters: 3 * 1024 ** 2,
  /** The same, in a transaction that is longer than other requests: elements and members, at every level. */
  operationValues: 100_000,
  /** Of all operations of such a transaction. */
  transactionValues: 1_000_000,
  /** Of one operator of a filter. */
  conditions: 100,
  sortFields: 16,
  aggregateOps: 64,
  selectedFields: 1000,
  resultBytes: 16 * 1024 ** 2,
  txIdCharacters: 64,
  txIdSecs: 24 * 60 * 60,
  lockSecs: 60,
  presenceBytes: 2 * 1024,
  presenceMembers: 100,
} as const

/** Of a filter. Each is an object of field to operand, or to operands where the name says so; all of them have to hold. */
export const rtdbOperators = [
  'equals',
  'notEquals',
  'greaterThan',
  'greaterThanOrEqual',
  'lessThan',
  'lessThanOrEqual',
  'inArray',
  'notInArray',
  'arrayContains',
  'arrayContainsAny',
  'arrayContainsAll',
] as const
