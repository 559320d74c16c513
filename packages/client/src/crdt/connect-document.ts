import { crdtSocket } from '@kith/protocol'
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import * as Y from 'yjs'
import { assertFileOptions, fileSocketPath } from '../realtime/base-url.ts'
import { endOf, noConnection } from '../realtime/connection-lost.ts'
import { notify } from '../realtime/notify.ts'
import {
  type Attempt,
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketProtocol,
} from '../realtime/reconnecting-socket.ts'
import { awarenessFrame, parseFrame, queryAwarenessFrame, type ServerFrame, syncFrame } from './frames.ts'
import { openLocalCopy } from './local-copy.ts'
import { UnsavedChanges } from './unsaved-changes.ts'

export interface DocumentOptions extends ConnectionOptions {
  /** The id of a file of type `CRDT`: `f1~…`. */
  readonly fileId: string
  /** The Yjs document to synchronise; a new one when absent. */
  readonly doc?: Y.Doc
  /** `read`: open read-only even with the right to write. `write`: end with 4403 without the right to write. */
  readonly access?: 'read' | 'write'
  /** Whether a browser stores the document in IndexedDB, so that it opens and can be edited offline; true when absent. */
  readonly keepsLocalCopy?: boolean
  /** How long `loaded` waits without a connection before it rejects, in ms; 10 000 when absent. */
  readonly timeoutMs?: number
  readonly onState?: (state: DocumentState) => void
}

/** - `loading`: neither the server nor a local copy has delivered the content yet. While there is no connection, with the members of
 *   `Attempt`.
 * - `saved`: the server has stored every local change.
 * - `saving`: local changes were sent, and are not confirmed yet.
 * - `offline`: not synchronised; reconnects by itself and sends local changes then. While there is no connection, with the members of
 *   `Attempt`.
 * - `readOnly`: connected without the right to write; local changes are not sent.
 * - `ended`: does not reconnect; `code` is a WebSocket close code (`socketCloses` in `@kith/protocol`; 1000 after `close()`).
 *
 * `hasUnsaved`: there are local changes that the server has not confirmed. */
export type DocumentState =
  | { readonly kind: 'saved' | 'saving' | 'readOnly' }
  | ({ readonly kind: 'loading' } & Partial<Attempt>)
  | ({ readonly kind: 'offline'; readonly hasUnsaved: boolean } & Partial<Attempt>)
  | { readonly kind: 'ended'; readonly code: number; readonly reason: string; readonly hasUnsaved: boolean }

/** A Yjs document that is synchronised with the server. */
export interface ConnectedDocument {
  readonly doc: Y.Doc
  /** The awareness states (cursors, names) of all clients with the document open. The server sets `user.idTag` in each state
   * to the authenticated identity. */
  readonly awareness: Awareness
  readonly state: DocumentState
  /** Resolves when `doc` has the content of the server or of the local copy. Rejects with `ConnectionLost` when there is no connection
   * for `timeoutMs`, or the state becomes `ended` before; the document is loaded all the same once there is a connection. */
  loaded(): Promise<void>
  /** Resolves when the server has stored every local change, however long that takes. Rejects with `ConnectionLost` when the state is or
   * becomes `ended`, and with an `Error` when it is or becomes `readOnly`. */
  saved(): Promise<void>
  /** Ends a delay before the next attempt to connect. Where there is a connection, asks the server whether it still is one. */
  reconnect(): void
  /** Closes the connection and keeps the local copy. Later changes of `doc` are neither sent nor stored. */
  close(): void
  /** Closes the connection and deletes the local copy, for signing out. */
  forget(): Promise<void>
}

/** Opens a document and synchronises it with the server. Reconnects after each interruption. */
export function connectDocument(options: DocumentOptions): ConnectedDocument {
  return new LiveDocument(options)
}

/** A promise of `loaded` or `saved` that is not settled yet. */
interface Waiting {
  readonly isMet: () => boolean
  /** Rejects it when there is no connection for long. */
  timer?: ReturnType<typeof setTimeout>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class LiveDocument implements ConnectedDocument, SocketProtocol {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  readonly #options: DocumentOptions
  readonly #unsaved = new UnsavedChanges()
  readonly #localCopy: ReturnType<typeof openLocalCopy>
  // Bound: the pending calls of `loaded` and `saved`.
  readonly #waiting = new Set<Waiting>()
  #socket: ReconnectingSocket | undefined
  #state: DocumentState = { kind: 'loading' }
  #isLoaded = false
  /** On this connection the server has sent step 1, and was answered with the changes that it lacks. */
  #hasAnsweredStep1 = false
  /** On this connection the server has sent step 2: the states are equal, and the changes sent before are stored. */
  #isSynced = false
  #isReadOnly = false
  /** There are local changes that were not sent, or whose connection closed before they were confirmed. */
  #hasUnsent = false
  #ended: { readonly code: number; readonly reason: string } | undefined

  constructor(options: DocumentOptions) {
    assertFileOptions(options)
    this.#options = options
    this.doc = options.doc ?? new Y.Doc()
    this.awareness = new Awareness(this.doc)
    this.#localCopy = openLocalCopy(options, this.doc)
    this.doc.on('update', this.#onUpdate)
    this.awareness.on('update', this.#onAwareness)
    void this.#start()
  }

  get state(): DocumentState {
    return this.#state
  }

  loaded(): Promise<void> {
    return this.#until(() => this.#isLoaded, this.#options.timeoutMs ?? 10_000)
  }

  saved(): Promise<void> {
    return this.#until(() => this.#state.kind === 'saved')
  }

  reconnect(): void {
    this.#socket?.reconnect()
  }

  close(): void {
    this.awareness.setLocalState(null)
    if (this.#socket) this.#socket.close()
    else this.stateChanged({ kind: 'ended', code: 1000, reason: 'closed by the client' })
    this.doc.off('update', this.#onUpdate)
    this.awareness.off('update', this.#onAwareness)
    void this.#localCopy.close()
  }

  async forget(): Promise<void> {
    this.close()
    await this.#localCopy.remove()
  }

  target(): string {
    const { access } = this.#options
    const path = fileSocketPath(crdtSocket.path, this.#options)
    return access === undefined ? path : `${path}?access=${access}`
  }

  opened(): void {
    // Nothing to send yet: the server sends step 1 first.
  }

  received(frame: string | Uint8Array): void {
    if (typeof frame !== 'string') this.#onFrame(parseFrame(frame))
  }

  lost(): void {
    this.#hasAnsweredStep1 = false
    this.#isSynced = false
    this.#isReadOnly = false
    if (!this.#unsaved.isEmpty) this.#hasUnsent = true
    this.#unsaved.clear()
    this.#updateState()
    // Calls the application.
    const others = [...this.awareness.getStates().keys()].filter((client) => client !== this.doc.clientID)
    removeAwarenessStates(this.awareness, others, this)
  }

  ping(): void {
    this.#socket?.send(queryAwarenessFrame())
  }

  awaitsLargeAnswer(): boolean {
    return this.#hasAnsweredStep1 && !this.#isSynced
  }

  stateChanged(state: ConnectionState): void {
    if (state.kind === 'ended') this.#ended = state
    this.#updateState()
    // Its timer would keep a program alive, and nobody hears of it any more.
    if (state.kind === 'ended') this.awareness.destroy()
  }

  async #start(): Promise<void> {
    if (await this.#localCopy.loaded) {
      this.#isLoaded = true
      this.#updateState()
    }
    if (!this.#ended) this.#socket = new ReconnectingSocket(this.#options, this)
  }

  #onFrame(frame: ServerFrame): void {
    switch (frame.kind) {
      case 'step1':
        this.#answerStep1(frame.bytes)
        break
      case 'step2':
        this.#apply(frame.bytes)
        this.#onSynced()
        break
      case 'update':
        this.#apply(frame.bytes)
        this.#unsaved.confirmed(frame.bytes)
        break
      case 'awareness':
        notify(() => applyAwarenessUpdate(this.awareness, frame.bytes, this))
        return
      case 'denied':
        this.#isReadOnly = true
        break
      default:
        return
    }
    this.#updateState()
  }

  /** Answers the server's step 1 with the changes that it lacks, and sends step 1. Messages are processed in order, so the
   * server's step 2 confirms that those changes are stored. */
  #answerStep1(stateVector: Uint8Array): void {
    this.#hasAnsweredStep1 = true
    this.#unsaved.clear()
    this.#socket?.send(syncFrame('step2', Y.encodeStateAsUpdate(this.doc, stateVector)))
    this.#socket?.send(syncFrame('step1', Y.encodeStateVector(this.doc)))
    if (this.awareness.getLocalState() !== null)
      this.#socket?.send(awarenessFrame(encodeAwarenessUpdate(this.awareness, [this.doc.clientID])))
  }

  /** Observers of the document belong to the application. */
  #apply(update: Uint8Array): void {
    notify(() => Y.applyUpdate(this.doc, update, this))
  }

  #onSynced(): void {
    if (!this.#isReadOnly) this.#hasUnsent = false
    this.#isSynced = true
    this.#isLoaded = true
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin === this || this.#localCopy.isOrigin(origin)) return
    if (this.#hasAnsweredStep1 && !this.#isReadOnly && this.#socket?.send(syncFrame('update', update)))
      this.#unsaved.sent(update)
    else this.#hasUnsent = true
    this.#updateState()
  }

  readonly #onAwareness = (
    changed: Readonly<Record<'added' | 'updated' | 'removed', readonly number[]>>,
    origin: unknown,
  ): void => {
    if (origin === this || !this.#hasAnsweredStep1) return
    const own = [...changed.added, ...changed.updated, ...changed.removed].filter(
      (client) => client === this.doc.clientID,
    )
    if (own.length > 0) this.#socket?.send(awarenessFrame(encodeAwarenessUpdate(this.awareness, own)))
  }

  #updateState(): void {
    const state = this.#currentState()
    const isSame = JSON.stringify(state) === JSON.stringify(this.#state)
    this.#state = state
    if (!isSame) notify(this.#options.onState, state)
    for (const waiting of [...this.#waiting]) this.#settle(waiting)
  }

  #currentState(): DocumentState {
    const hasUnsaved = this.#hasUnsent || !this.#unsaved.isEmpty
    if (this.#ended) return { kind: 'ended', code: this.#ended.code, reason: this.#ended.reason, hasUnsaved }
    if (this.#isSynced && this.#isReadOnly) return { kind: 'readOnly' }
    if (this.#isSynced) return { kind: hasUnsaved ? 'saving' : 'saved' }
    if (this.#isLoaded) return { kind: 'offline', hasUnsaved, ...this.#attempt() }
    return { kind: 'loading', ...this.#attempt() }
  }

  #attempt(): Partial<Attempt> {
    const state = this.#socket?.state
    if (state?.kind !== 'connecting') return {}
    const { kind: _kind, ...attempt } = state
    return attempt
  }

  #until(isMet: () => boolean, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { isMet, resolve, reject }
      this.#waiting.add(waiting)
      if (timeoutMs !== Number.POSITIVE_INFINITY) this.#limit(waiting, timeoutMs)
      this.#settle(waiting)
    })
  }

  #limit(waiting: Waiting, timeoutMs: number): void {
    waiting.timer = setTimeout(() => {
      const state = this.#socket?.state
      // The content is on its way.
      if (state?.kind === 'open') return this.#limit(waiting, timeoutMs)
      this.#waiting.delete(waiting)
      waiting.reject(noConnection(this.#options.baseUrl, timeoutMs, state))
    }, timeoutMs)
  }

  #settle(waiting: Waiting): void {
    const { state } = this
    if (waiting.isMet()) waiting.resolve()
    else if (state.kind === 'ended') waiting.reject(endOf(state))
    else if (state.kind === 'readOnly') waiting.reject(new Error('the document may only be read'))
    else return
    clearTimeout(waiting.timer)
    this.#waiting.delete(waiting)
  }
}
