import type { FileId } from '@kith/protocol'
import { createFile } from '@kith/protocol'
import * as decoding from 'lib0/decoding'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import { WebsocketProvider as ProviderOf21 } from 'y-websocket-2'
import { WebsocketProvider as ProviderOf30 } from 'y-websocket-3-0'
import * as Y from 'yjs'
import { SocketClient } from './socket-client.ts'
import type { TestServer } from './test-server.ts'

const providers = {
  '2.1': ProviderOf21 as unknown as typeof WebsocketProvider,
  '3.0': ProviderOf30 as unknown as typeof WebsocketProvider,
  '3.1': WebsocketProvider,
}

/** The version of the package of a stock client. */
export type StockVersion = keyof typeof providers
export const stockVersions = Object.keys(providers) as StockVersion[]

interface StockOptions {
  readonly version?: StockVersion
  readonly token?: string
  readonly params?: Readonly<Record<string, string>>
  /** The document of a client that was away. */
  readonly doc?: Y.Doc
  /** Where its line leads, when that is not the port of its address. */
  readonly linePort?: number
  /** Whether it speaks with others in this process that have the same address, as tabs of a browser do. */
  readonly isTab?: boolean
  /** How long it waits before it connects again, at most. */
  readonly maxBackoffTime?: number
}

/** A stock client of a document, as it is installed. */
export class StockClient implements AsyncDisposable {
  readonly doc: Y.Doc
  readonly provider: WebsocketProvider

  private constructor(doc: Y.Doc, provider: WebsocketProvider) {
    this.doc = doc
    this.provider = provider
  }

  /** At a port of this machine, under the name of a host. */
  static open(at: { port: number; host: string }, fileId: string, options: StockOptions = {}): StockClient {
    const { version = '3.1', token, params = {}, doc = new Y.Doc(), linePort = at.port } = options
    const host = `${at.host}:${at.port}`
    class HostSocket extends WebSocket {
      constructor(url: string, protocols?: string[]) {
        const line = new URL(url)
        line.port = String(linePort)
        super(line, protocols ?? [], { headers: { host }, perMessageDeflate: false })
      }
    }
    const provider = new providers[version](`ws://127.0.0.1:${at.port}/ws/crdt`, fileId, doc, {
      params: { ...params, ...(token === undefined ? {} : { token }) },
      WebSocketPolyfill: HostSocket as never,
      disableBc: !options.isTab,
      ...(options.maxBackoffTime !== undefined && { maxBackoffTime: options.maxBackoffTime }),
    })
    return new StockClient(doc, provider)
  }

  get text(): Y.Text {
    return this.doc.getText('text')
  }

  /** Resolves when it has what the server has. */
  async synced(): Promise<this> {
    if (!this.provider.synced)
      await new Promise<void>((resolve) => {
        const listen = (isSynced: boolean) => {
          if (!isSynced) return
          this.provider.off('sync', listen)
          resolve()
        }
        this.provider.on('sync', listen)
      })
    return this
  }

  /** What the others show of themselves. */
  get others(): unknown[] {
    const states = [...this.provider.awareness.getStates()]
    return states.filter(([client]) => client !== this.doc.clientID).map(([, state]) => state)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // As the page of a browser does that is closed.
    this.provider.awareness.setLocalState(null)
    this.provider.destroy()
    this.doc.destroy()
  }
}

/** A client of a document that speaks bytes. */
export class RawDocumentClient implements AsyncDisposable {
  readonly client: SocketClient

  private constructor(client: SocketClient) {
    this.client = client
  }

  static async open(
    server: TestServer,
    host: string,
    fileId: string,
    query = '',
  ): Promise<RawDocumentClient> {
    const path = `/ws/crdt/${fileId}${query}`
    return new RawDocumentClient(await SocketClient.connect(server.running.port, host, path))
  }

  /** What it received, in hexadecimal. */
  get frames(): string[] {
    return this.client.received.map((frame) => Buffer.from(frame as Buffer).toString('hex'))
  }

  send(hex: string): void {
    this.client.send(Buffer.from(hex, 'hex'))
  }

  /** The updates it received, from steps 2 as well. */
  get updates(): Uint8Array[] {
    return this.client.received.flatMap((frame) => {
      const decoder = decoding.createDecoder(frame as Buffer)
      if (decoding.readVarUint(decoder) !== 0 || decoding.readVarUint(decoder) === 0) return []
      return [decoding.readVarUint8Array(decoder)]
    })
  }

  /** Resolves when everything that was sent before is answered. */
  async caughtUp(): Promise<void> {
    const count = this.client.received.length
    this.send('00000100')
    for (let at = count; ; at += 1) {
      await this.client.until(at + 1)
      if (this.frames[at]?.startsWith('0001')) return
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client[Symbol.asyncDispose]()
  }
}

/** A document of its owner, and a token of theirs. */
export async function makeDocument(
  server: TestServer,
  idTag: string,
  options: { visibility?: 'P' } = {},
): Promise<{ fileId: FileId; token: string }> {
  const token = await server.signIn(idTag)
  const { data } = await server
    .client(idTag, token)
    .call(createFile, { body: { fileTp: 'CRDT', fileName: 'doc', ...options } })
  return { fileId: data.fileId as FileId, token }
}
