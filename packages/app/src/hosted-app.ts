import type { ConnectedDocument, DocumentOptions, DocumentState } from '@kith/client/crdt'
import type { ConnectedDatabase, DatabaseOptions } from '@kith/client/rtdb'
import { type AppFile, FileReads } from './app-file.ts'
import {
  type AppContext,
  type AppMessage,
  type EndReason,
  readHostMessage,
  type SaveState,
  type SocketKind,
} from './messages/messages.ts'
import { PortSockets } from './port-socket.ts'

type HostChosen = 'baseUrl' | 'fileId' | 'token' | 'connect'

/** The app as its host shows it. `theme`, `language`, `user` and `opened` are those of now; `onChange` tells of others. */
export interface App extends AppContext {
  /** Calls the listener when the theme, the language, the name of the file or the right to write it has changed. Returns a
   * function that ends that. */
  onChange(listener: (app: App) => void): () => void
  /** Calls the listener once when the host has ended the app; its connections end as well. */
  onEnd(listener: (reason: EndReason) => void): void
  /** Opens the file as a database. Rejects when it is none, or the manifest lacks the capability `rtdb`. */
  database(options?: Omit<DatabaseOptions, HostChosen>): Promise<ConnectedDatabase>
  /** Opens the file as a collaborative document. Rejects when it is none, or the manifest lacks the capability `crdt`. */
  document(options?: Omit<DocumentOptions, HostChosen>): Promise<ConnectedDocument>
  /** The bytes of the file. Rejects when it has none; they are not read when the manifest lacks the capability `files:read`. */
  file(): Promise<AppFile>
  /** What the host shows beside the app's name, at most 200 characters. */
  setTitle(title: string): void
  /** Asks for a height, in CSS pixels. A host that shows the app in the whole window does not follow. */
  setHeight(height: number): void
  /** Asks the person to open an `https` or `http` address in another tab. To be called when they have clicked: hosts ignore
   * it otherwise. Whether they agree is not told. Throws a `TypeError` for other addresses, and those of more than 2000
   * characters. */
  navigate(url: string): void
}

/** An app that talks to its host by this port. */
export class HostedApp implements App {
  readonly #port: MessagePort
  readonly #sockets: PortSockets
  readonly #reads: FileReads
  // Bound: the calls of `onChange` and `onEnd` by the application.
  readonly #listeners = new Set<(app: App) => void>()
  readonly #endListeners = new Set<(reason: EndReason) => void>()
  #context: AppContext
  #tokens = 0

  constructor(port: MessagePort, context: AppContext) {
    this.#port = port
    this.#context = context
    this.#sockets = new PortSockets((message) => this.#post(message))
    this.#reads = new FileReads((message) => this.#post(message))
    port.onmessage = ({ data }) => this.#take(data)
  }

  get theme() {
    return this.#context.theme
  }

  get language() {
    return this.#context.language
  }

  get user() {
    return this.#context.user
  }

  get opened() {
    return this.#context.opened
  }

  onChange(listener: (app: App) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onEnd(listener: (reason: EndReason) => void): void {
    this.#endListeners.add(listener)
  }

  async database(options: Omit<DatabaseOptions, HostChosen> = {}): Promise<ConnectedDatabase> {
    this.#assertKind('rtdb')
    // Loaded when it is asked for: an app of documents does not carry the databases.
    const { connectDatabase } = await import('@kith/client/rtdb')
    return connectDatabase({
      ...options,
      ...this.#address('rtdb'),
      onState: (state) => {
        this.#tellState(databaseState(state))
        options.onState?.(state)
      },
    })
  }

  async document(options: Omit<DocumentOptions, HostChosen> = {}): Promise<ConnectedDocument> {
    this.#assertKind('crdt')
    const { connectDocument } = await import('@kith/client/crdt')
    return connectDocument({
      ...options,
      ...this.#address('crdt'),
      onState: (state) => {
        this.#tellState(documentState(state))
        options.onState?.(state)
      },
    })
  }

  async file(): Promise<AppFile> {
    this.#assertKind('blob')
    return this.#reads.open(this.#context.opened)
  }

  setTitle(title: string): void {
    this.#post({ type: 'title', title: title.slice(0, 200) })
  }

  setHeight(height: number): void {
    this.#post({ type: 'resize', height: Math.min(100_000, Math.max(0, Math.ceil(height))) })
  }

  navigate(url: string): void {
    const { href, protocol, username, password } = new URL(url)
    if (!/^https?:$/.test(protocol) || `${username}${password}` !== '' || href.length > 2_000)
      throw new TypeError('an address of http or https, without a name, and of 2000 characters at most')
    this.#post({ type: 'navigate', url: href })
  }

  #address(kind: SocketKind) {
    return {
      // No name that could be asked for: the host knows where the file is.
      baseUrl: 'https://host.invalid',
      fileId: this.#context.opened.fileId,
      // Each socket has another token, which only the host knows: a refused one is no reason to give up.
      token: () => {
        this.#tokens += 1
        return String(this.#tokens)
      },
      connect: (url: string) => this.#sockets.connect(kind, url),
    }
  }

  #assertKind(kind: SocketKind | 'blob'): void {
    const { opened } = this.#context
    if (opened.kind !== kind) throw new Error(`the file is of the kind ${opened.kind}`)
  }

  #tellState(state: SaveState): void {
    this.#post({ type: 'state', state })
  }

  #post(message: AppMessage): void {
    // Bytes are a copy already, made for this message.
    const isBytes = message.type === 'send' && typeof message.data !== 'string'
    this.#port.postMessage(message, isBytes ? [message.data as ArrayBuffer] : [])
  }

  #take(value: unknown): void {
    const message = readHostMessage(value)
    if (message === undefined) return
    if (message.type === 'context') {
      this.#context = message.context
      for (const listener of [...this.#listeners]) listener(this)
    } else if (message.type === 'ended') {
      this.#reads.end()
      this.#port.close()
      for (const listener of [...this.#endListeners]) listener(message.reason)
    } else if (message.type === 'bytes' || message.type === 'failed') this.#reads.take(message)
    else this.#sockets.take(message)
  }
}

function databaseState({ kind, waiting }: { kind: string; waiting: number }): SaveState {
  if (kind === 'ended') return 'ended'
  if (kind === 'connecting') return waiting > 0 ? 'waiting' : 'offline'
  return waiting > 0 ? 'saving' : 'saved'
}

function documentState(state: DocumentState): SaveState {
  return state.kind === 'offline' && state.hasUnsaved ? 'waiting' : state.kind
}
