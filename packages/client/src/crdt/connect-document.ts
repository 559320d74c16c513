import { crdtSocket } from '@kith/protocol'
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import * as Y from 'yjs'
import {
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketProtocol,
} from '../realtime/reconnecting-socket.ts'
import { awarenessFrame, parseFrame, queryAwarenessFrame, type ServerFrame, syncFrame } from './frames.ts'
import { openLocalCopy } from './local-copy.ts'
import { UnsavedChanges } from './unsaved-changes.ts'

export interface DocumentOptions extends ConnectionOptions {
  /** `f1~…`. */
  readonly fileId: string
  /** A new one when absent. */
  readonly doc?: Y.Doc
  /** `read` asks for less than one's right, `write` for the right to write or nothing. */
  readonly access?: 'read' | 'write'
  /** Whether browsers keep a copy, with which the document opens and is edited offline; they do unless told otherwise. */
  readonly keepsLocalCopy?: boolean
  readonly onState?: (state: DocumentState) => void
}

/** How the document stands.
 * `loading`: nothing of the server has been seen yet. `saved`: the server has everything on its disk. `saving`: changes are
 * on their way. `offline`: it reconnects by itself, and changes wait. `readOnly`: changes stay here. `ended`: it does not
 * reconnect; `code` says why (see `socketCloses` of the protocol). */
export type DocumentState =
  | { readonly kind: 'loading' | 'saved' | 'saving' | 'readOnly' }
  | { readonly kind: 'offline'; readonly hasUnsaved: boolean }
  | { readonly kind: 'ended'; readonly code: number; readonly reason: string; readonly hasUnsaved: boolean }

/** A collaborative document, kept in step with the server. */
export interface ConnectedDocument {
  readonly doc: Y.Doc
  /** What those who look at the document show each other; the server names the identity in `user.idTag`. */
  readonly awareness: Awareness
  readonly state: DocumentState
  /** Resolves when the content of the server, or of the local copy, is there. Rejects when it ends before. */
  loaded(): Promise<void>
  /** Resolves when the server has every change on its disk. Rejects when it ends, or may only read. */
  saved(): Promise<void>
  /** Closes the connection; the local copy stays. */
  close(): void
  /** Closes it and removes the local copy: for signing out. */
  forget(): Promise<void>
}

/** Opens a document and keeps it in step: reconnects after each interruption. */
export function connectDocument(options: DocumentOptions): ConnectedDocument {
  return new LiveDocument(options)
}

interface Waiting {
  readonly isMet: () => boolean
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class LiveDocument implements ConnectedDocument, SocketProtocol {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  readonly #options: DocumentOptions
  readonly #unsaved = new UnsavedChanges()
  readonly #localCopy: ReturnType<typeof openLocalCopy>
  // Bound: the callers of `loaded` and `saved`.
  readonly #waiting = new Set<Waiting>()
  #socket: ReconnectingSocket | undefined
  #state: DocumentState = { kind: 'loading' }
  #isLoaded = false
  /** The server has said what it has, and was told what it lacks. */
  #isGreeted = false
  /** It has answered that it has all of that on its disk. */
  #isLevel = false
  #isReadOnly = false
  /** Changes were made that no server has been sent. */
  #hasUnsent = false
  #ended: { readonly code: number; readonly reason: string } | undefined

  constructor(options: DocumentOptions) {
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
    return this.#until(() => this.#isLoaded)
  }

  saved(): Promise<void> {
    return this.#until(() => this.#state.kind === 'saved')
  }

  close(): void {
    this.awareness.setLocalState(null)
    if (this.#socket) this.#socket.close()
    else this.stateChanged({ kind: 'ended', code: 1000, reason: 'closed by the client' })
    this.doc.off('update', this.#onUpdate)
    this.awareness.off('update', this.#onAwareness)
    this.awareness.destroy()
    void this.#localCopy.close()
  }

  async forget(): Promise<void> {
    this.close()
    await this.#localCopy.remove()
  }

  target(): string {
    const { fileId, access } = this.#options
    const path = crdtSocket.path.replace('{fileId}', encodeURIComponent(fileId))
    return access === undefined ? path : `${path}?access=${access}`
  }

  opened(): void {
    // The server speaks first: what it lacks is known then.
  }

  received(frame: string | Uint8Array): void {
    if (typeof frame !== 'string') this.#take(parseFrame(frame))
  }

  lost(): void {
    this.#isGreeted = false
    this.#isLevel = false
    this.#isReadOnly = false
    if (!this.#unsaved.isEmpty) this.#hasUnsent = true
    this.#unsaved.clear()
    const others = [...this.awareness.getStates().keys()].filter((client) => client !== this.doc.clientID)
    removeAwarenessStates(this.awareness, others, this)
    this.#show()
  }

  ping(): void {
    this.#socket?.send(queryAwarenessFrame())
  }

  stateChanged(state: ConnectionState): void {
    if (state.kind === 'ended') this.#ended = state
    this.#show()
  }

  async #start(): Promise<void> {
    if (await this.#localCopy.loaded) {
      this.#isLoaded = true
      this.#show()
    }
    if (!this.#ended) this.#socket = new ReconnectingSocket(this.#options, this)
  }

  #take(frame: ServerFrame): void {
    switch (frame.kind) {
      case 'step1':
        this.#greet(frame.bytes)
        break
      case 'step2':
        Y.applyUpdate(this.doc, frame.bytes, this)
        this.#level()
        break
      case 'update':
        Y.applyUpdate(this.doc, frame.bytes, this)
        this.#unsaved.cameBack(frame.bytes)
        break
      case 'awareness':
        applyAwarenessUpdate(this.awareness, frame.bytes, this)
        return
      case 'denied':
        this.#isReadOnly = true
        break
      default:
        return
    }
    this.#show()
  }

  /** Sends what the server lacks, and asks for what it has besides. Messages are answered in their order, so its answer says
   * that all of this is on its disk. */
  #greet(stateVector: Uint8Array): void {
    this.#isGreeted = true
    this.#unsaved.clear()
    this.#socket?.send(syncFrame('step2', Y.encodeStateAsUpdate(this.doc, stateVector)))
    this.#socket?.send(syncFrame('step1', Y.encodeStateVector(this.doc)))
    if (this.awareness.getLocalState() !== null)
      this.#socket?.send(awarenessFrame(encodeAwarenessUpdate(this.awareness, [this.doc.clientID])))
  }

  #level(): void {
    if (!this.#isReadOnly) this.#hasUnsent = false
    this.#isLevel = true
    this.#isLoaded = true
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin === this || this.#localCopy.isOrigin(origin)) return
    if (this.#isGreeted && !this.#isReadOnly && this.#socket?.send(syncFrame('update', update)))
      this.#unsaved.sent(update)
    else this.#hasUnsent = true
    this.#show()
  }

  readonly #onAwareness = (
    changed: Readonly<Record<'added' | 'updated' | 'removed', readonly number[]>>,
    origin: unknown,
  ): void => {
    if (origin === this || !this.#isGreeted) return
    const own = [...changed.added, ...changed.updated, ...changed.removed].filter(
      (client) => client === this.doc.clientID,
    )
    if (own.length > 0) this.#socket?.send(awarenessFrame(encodeAwarenessUpdate(this.awareness, own)))
  }

  #show(): void {
    const state = this.#now()
    const isSame = JSON.stringify(state) === JSON.stringify(this.#state)
    this.#state = state
    if (!isSame) this.#options.onState?.(state)
    for (const waiting of [...this.#waiting]) this.#settle(waiting)
  }

  #now(): DocumentState {
    const hasUnsaved = this.#hasUnsent || !this.#unsaved.isEmpty
    if (this.#ended) return { kind: 'ended', code: this.#ended.code, reason: this.#ended.reason, hasUnsaved }
    if (this.#isLevel && this.#isReadOnly) return { kind: 'readOnly' }
    if (this.#isLevel) return { kind: hasUnsaved ? 'saving' : 'saved' }
    if (this.#isLoaded) return { kind: 'offline', hasUnsaved }
    return { kind: 'loading' }
  }

  #until(isMet: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { isMet, resolve, reject }
      this.#waiting.add(waiting)
      this.#settle(waiting)
    })
  }

  #settle(waiting: Waiting): void {
    const { state } = this
    if (waiting.isMet()) waiting.resolve()
    else if (state.kind === 'ended') waiting.reject(new Error(`the document is closed: ${state.reason}`))
    else if (state.kind === 'readOnly') waiting.reject(new Error('the document may only be read'))
    else return
    this.#waiting.delete(waiting)
  }
}
