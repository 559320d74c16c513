import { type BusOptions, connectBus } from '@kith/client/bus'
import { type ConnectedDocument, connectDocument, type DocumentOptions } from '@kith/client/crdt'
import { connectDatabase, type DatabaseOptions } from '@kith/client/rtdb'
import { WebsocketProvider as ProviderThree } from 'y-websocket'
import { WebsocketProvider as ProviderTwo } from 'y-websocket-2'
import * as Y from 'yjs'

const retry = { firstMs: 20, longestMs: 100 }

/** Sockets of which the first result of a transaction is lost, with its connection. */
function losingFirstResult() {
  const lossy = { isLosing: false, lost: 0, connect: connectLossy }
  function connectLossy(url: string): WebSocket {
    const socket = new WebSocket(url)
    // Runs before `onmessage`, which the client sets later.
    socket.addEventListener('message', (event) => {
      if (!lossy.isLosing || lossy.lost > 0 || !String(event.data).includes('transactionResult')) return
      lossy.lost += 1
      event.stopImmediatePropagation()
      socket.close()
    })
    return socket
  }
  return lossy
}

/** What the tests call in the page, by `page.evaluate`. */
export const application = {
  /** Connects a published `y-websocket` provider. */
  openStock(version: 2 | 3, { baseUrl, fileId, token }: { baseUrl: string; fileId: string; token: string }) {
    const Provider = version === 2 ? (ProviderTwo as unknown as typeof ProviderThree) : ProviderThree
    const doc = new Y.Doc()
    const url = `${baseUrl.replace('http', 'ws')}/ws/crdt`
    // Without the channel between the tabs of a browser: everything goes over the server.
    const provider = new Provider(url, fileId, doc, { params: { token }, disableBc: true })
    return { doc, provider, text: doc.getText('text') }
  },
  openDocument(options: DocumentOptions): { document: ConnectedDocument; text: Y.Text } {
    const document = connectDocument({ retry, ...options })
    return { document, text: document.doc.getText('text') }
  },
  openDatabase(options: DatabaseOptions) {
    const lossy = losingFirstResult()
    const database = connectDatabase({ retry, connect: lossy.connect, ...options })
    return { database, tasks: database.collection<{ title: string }>('tasks'), lossy }
  },
  openBus(options: Pick<BusOptions, 'baseUrl' | 'token' | 'retry'>) {
    const texts: unknown[] = []
    const states: string[] = []
    const bus = connectBus({
      ...{ retry, ...options },
      onEvent: (event) => texts.push(event.cmd === 'ACTION' ? event.data.content?.text : event.cmd),
      onState: ({ kind }) => states.push(kind),
    })
    return { bus, texts, states }
  },
  /** The databases of IndexedDB that this origin has. */
  async databaseNames(): Promise<(string | undefined)[]> {
    const { indexedDB } = globalThis as unknown as {
      indexedDB: { databases(): Promise<{ name?: string }[]> }
    }
    return (await indexedDB.databases()).map(({ name }) => name)
  },
}

Object.assign(globalThis, { application })
