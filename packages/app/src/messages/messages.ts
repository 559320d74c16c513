import {
  bytes,
  data,
  flag,
  integer,
  list,
  object,
  optional,
  pick,
  type Shape,
  type ShapeOf,
  text,
  word,
} from './shape.ts'

/** The versions of these messages that this code speaks, the newest first. */
export const messageVersions: readonly number[] = [1]

const socket = integer(1, 2 ** 31)
const kind = word('crdt', 'rtdb')
const offset = integer(0, Number.MAX_SAFE_INTEGER)
const access = word('read', 'write')

/** The kinds of files to which there are WebSockets. */
export type SocketKind = 'crdt' | 'rtdb'
/** What an app may ask its host for; the capabilities of its manifest. */
export type Capability = SocketKind | 'files:read'

const context = object({
  theme: object({ scheme: word('light', 'dark'), contrast: word('normal', 'more') }),
  /** A BCP 47 tag. */
  language: text(35),
  user: object({ idTag: text(253), name: text(1_000) }),
  opened: object({
    fileId: text(128),
    name: text(255),
    contentType: text(255),
    /** `blob`: bytes, which do not change. */
    kind: word('crdt', 'rtdb', 'blob'),
    access,
    /** In bytes; of databases and documents 0. */
    size: offset,
  }),
})

/** What the host tells its app: how it looks, who uses it, and which file it was opened on. */
export type AppContext = ContextOf<typeof context>
type ContextOf<G> = G extends (value: unknown) => value is infer T ? T : never

const saveStates = ['loading', 'saved', 'saving', 'offline', 'waiting', 'readOnly', 'ended'] as const
/** Whether what the user has done in the app is stored. `waiting`: offline, with changes that would be lost with the page. */
export type SaveState = (typeof saveStates)[number]

const endReasons = ['stopped', 'navigated', 'flood', 'malformed', 'focus', 'uninstalled'] as const
/** Why a host has ended its app. `focus`: it did not leave the keyboard to the page around it. */
export type EndReason = (typeof endReasons)[number]

const readFailures = ['forbidden', 'gone', 'unavailable', 'refused'] as const
/** Why bytes were not read. `unavailable`: it may be better later. `refused`: the host does not read files for this app, the
 * place is beyond the end, or too many readings are under way. */
export type ReadFailure = (typeof readFailures)[number]

/** Messages between the windows, before there is a port. */
export const windowMessages = {
  /** App to host: the versions of the messages that it speaks. */
  hello: { versions: list(integer(1, 1_000), 16) },
  /** Host to app, with the port for all further messages. */
  welcome: { version: integer(1, 1_000), context },
  /** Host to app: they share no version. */
  refused: {},
} as const

/** Messages of the app, by the port. */
export const appMessages = {
  title: { title: text(200) },
  /** The height in CSS pixels that its page would like to have. */
  resize: { height: integer(0, 100_000) },
  /** Asks the person whether to open an address, in another tab. */
  navigate: { url: text(2_000) },
  state: { state: word(...saveStates) },
  /** Opens a WebSocket to the file. `socket` is a number of the app's choice, not used before. */
  open: { socket, kind, access: optional(access), presence: optional(flag) },
  send: { socket, data },
  /** The app has processed messages of this cost (`costOf`): the host may send more. */
  received: { socket, cost: integer(1, 2 ** 40) },
  close: { socket },
  /** Asks for the bytes of the file from `start` to before `end`: `flowLimits.readBytes` at most. `read` is a number of the app's
   * choice. */
  read: { read: socket, start: offset, end: offset },
} as const

/** Messages of the host, by the port. */
export const hostMessages = {
  context: { context },
  opened: { socket },
  data: { socket, data },
  /** The network has taken messages of this cost: the app may send more. */
  sent: { socket, cost: integer(1, 2 ** 40) },
  closed: { socket, code: integer(1_000, 4_999), reason: text(200) },
  bytes: { read: socket, data: bytes },
  failed: { read: socket, reason: word(...readFailures) },
  ended: { reason: word(...endReasons) },
} as const

type Messages<Table extends Readonly<Record<string, Shape>>> = {
  [Type in keyof Table]: { readonly type: Type } & ShapeOf<Table[Type]>
}[keyof Table]

export type WindowMessage = Messages<typeof windowMessages>
export type AppMessage = Messages<typeof appMessages>
export type HostMessage = Messages<typeof hostMessages>

/** A message between windows; undefined where it is none. */
export function readWindowMessage(value: unknown): WindowMessage | undefined {
  const isOurs = typeof value === 'object' && value !== null && (value as { kith?: unknown }).kith === 'app'
  return isOurs ? (read(windowMessages, value) as WindowMessage | undefined) : undefined
}

/** The message with the mark by which windows tell it from others. */
export function windowMessage(message: WindowMessage): object {
  return { kith: 'app', ...message }
}

/** A message of an app; undefined where it is none. */
export function readAppMessage(value: unknown): AppMessage | undefined {
  return read(appMessages, value) as AppMessage | undefined
}

/** A message of a host; undefined where it is none. */
export function readHostMessage(value: unknown): HostMessage | undefined {
  return read(hostMessages, value) as HostMessage | undefined
}

function read(table: Readonly<Record<string, Shape>>, value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { type } = value as { type?: unknown }
  if (typeof type !== 'string' || !Object.hasOwn(table, type)) return undefined
  const members = pick(table[type] as Shape, value)
  return members && { type, ...members }
}
