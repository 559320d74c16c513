import { flowLimits } from '../messages/flow.ts'
import {
  type AppContext,
  type AppMessage,
  type Capability,
  type EndReason,
  type HostMessage,
  readAppMessage,
  type SaveState,
  type SocketKind,
} from '../messages/messages.ts'
import { AppUninstalled, type FileAccess, ReadRefused } from './file-access.ts'
import { Pace } from './pace.ts'
import { Relay, type RelayOptions } from './relay.ts'

export interface SessionOptions extends Pick<RelayOptions, 'socketUrl' | 'connect'> {
  /** Of the manifest: what the app may open. */
  readonly capabilities: readonly Capability[]
  /** Reads bytes of the file. */
  readonly readBytes: FileAccess['readBytes']
  readonly onTitle?: (title: string) => void
  readonly onResize?: (height: number) => void
  readonly onNavigate?: (url: URL) => void
  readonly onState?: (state: SaveState) => void
}

interface SessionDeps extends SessionOptions {
  /** The app is to be ended. */
  readonly end: (reason: EndReason) => void
}

// `forbidden` of the server's closes: the clients do not connect again.
const endedCode = 4403
const tokenEndedCode = 1008
const minuteMs = 60_000
const longestAddress = 2_000
// Control characters, ends of lines, and what turns the direction of text around.
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Malformed messages that are dropped before the app is ended. */
export const maxMalformed = 1_000

/** The conversation with one app over its port. */
export class AppSession {
  readonly #deps: SessionDeps
  readonly #port: MessagePort
  readonly #pace: Pace<unknown>
  // Bound: `flowLimits.socketsOfKind` of each kind.
  readonly #relays = new Map<number, { readonly kind: SocketKind; readonly relay: Relay }>()
  #kind: AppContext['opened']['kind']
  // When sockets were opened within the last minute. Bound: `flowLimits.opensPerMinute`.
  #opensMs: number[] = []
  #lastSocket = 0
  #malformed = 0
  #readsUnderWay = 0
  #isClosed = false

  constructor(port: MessagePort, context: AppContext, deps: SessionDeps) {
    this.#port = port
    this.#deps = deps
    this.#kind = context.opened.kind
    this.#pace = new Pace(
      (message) => this.#read(message),
      () => deps.end('flood'),
    )
    port.onmessage = ({ data }) => this.#pace.take(data)
    port.onmessageerror = () => this.noteMalformed()
  }

  /** How many messages were dropped because they are none. */
  get malformed(): number {
    return this.#malformed
  }

  noteMalformed(): void {
    this.#malformed += 1
    if (this.#malformed === maxMalformed) this.#deps.end('malformed')
  }

  update(context: AppContext): void {
    this.#kind = context.opened.kind
    this.#post({ type: 'context', context })
  }

  close(reason: EndReason): void {
    this.#pace.stop()
    for (const { relay } of [...this.#relays.values()]) relay.close(endedCode, 'the host has ended the app')
    this.#post({ type: 'ended', reason })
    this.#isClosed = true
    this.#port.onmessage = null
    this.#port.close()
  }

  #read(value: unknown): void {
    const message = readAppMessage(value)
    switch (message?.type) {
      case undefined:
        this.noteMalformed()
        break
      case 'title':
        this.#deps.onTitle?.(message.title.replaceAll(steering, ' '))
        break
      case 'resize':
        this.#deps.onResize?.(message.height)
        break
      case 'navigate':
        this.#navigate(message.url)
        break
      case 'read':
        void this.#readBytes(message)
        break
      case 'state':
        this.#deps.onState?.(message.state)
        break
      case 'open':
        this.#open(message)
        break
      case 'send':
        this.#relays.get(message.socket)?.relay.send(message)
        break
      case 'received':
        this.#relays.get(message.socket)?.relay.received(message)
        break
      case 'close':
        this.#relays.get(message.socket)?.relay.close(1000, 'closed by the app')
        break
    }
  }

  #open({ socket, kind, access, presence = false }: Extract<AppMessage, { type: 'open' }>): void {
    if (socket <= this.#lastSocket) {
      this.noteMalformed()
      return
    }
    this.#lastSocket = socket
    const refusal = this.#refusal(kind)
    if (refusal) {
      this.#post({ type: 'closed', socket, ...refusal })
      return
    }
    const request = { kind, access, presence }
    const socketUrl = () => this.#unlessUninstalled(this.#deps.socketUrl(request))
    const relay = new Relay({
      ...{ socket, request, socketUrl },
      connect: this.#deps.connect,
      post: (told, transfer) => this.#post(told, transfer),
      closed: (code) => {
        this.#relays.delete(socket)
        // The token has ended, perhaps because the app was uninstalled: that is found out whether or not the app connects again.
        if (code === tokenEndedCode) void socketUrl().catch(() => undefined)
      },
    })
    this.#relays.set(socket, { kind, relay })
    this.#opensMs.push(performance.now())
  }

  #navigate(text: string): void {
    const url = URL.canParse(text) ? new URL(text) : undefined
    // An address with a name and a password looks like that of another host, and nobody reads a long one.
    const isPlain = url?.username === '' && url.password === '' && url.href.length <= longestAddress
    if (isPlain && (url.protocol === 'https:' || url.protocol === 'http:')) this.#deps.onNavigate?.(url)
    else this.noteMalformed()
  }

  async #readBytes({ read, start, end }: Extract<AppMessage, { type: 'read' }>): Promise<void> {
    const isSound = start < end && end - start <= flowLimits.readBytes
    const mayRead = this.#kind === 'blob' && this.#deps.capabilities.includes('files:read')
    if (!isSound || !mayRead || this.#readsUnderWay >= flowLimits.readsAtOnce) {
      this.#post({ type: 'failed', read, reason: 'refused' })
      return
    }
    this.#readsUnderWay += 1
    try {
      const data = await this.#unlessUninstalled(this.#deps.readBytes(start, end))
      this.#post({ type: 'bytes', read, data }, [data])
    } catch (error) {
      const reason = error instanceof ReadRefused ? error.reason : 'unavailable'
      this.#post({ type: 'failed', read, reason })
    } finally {
      this.#readsUnderWay -= 1
    }
  }

  async #unlessUninstalled<Result>(work: Promise<Result>): Promise<Result> {
    return await work.catch((error: unknown) => {
      if (error instanceof AppUninstalled) this.#deps.end('uninstalled')
      throw error
    })
  }

  #refusal(kind: SocketKind): { readonly code: number; readonly reason: string } | undefined {
    if (!this.#deps.capabilities.includes(kind))
      return { code: 4403, reason: `the manifest of the app lacks the capability ${kind}` }
    if (this.#kind !== kind) return { code: 4409, reason: 'the file is of another type' }
    const count = [...this.#relays.values()].filter((open) => open.kind === kind).length
    const sinceMs = performance.now() - minuteMs
    this.#opensMs = this.#opensMs.filter((openedMs) => openedMs > sinceMs)
    if (count >= flowLimits.socketsOfKind || this.#opensMs.length >= flowLimits.opensPerMinute)
      return { code: 1013, reason: 'too many sockets' }
    return undefined
  }

  #post(message: HostMessage, transfer: Transferable[] = []): void {
    if (!this.#isClosed) this.#port.postMessage(message, transfer)
  }
}
