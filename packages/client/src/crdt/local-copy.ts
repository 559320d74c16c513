import type * as Y from 'yjs'

/** The copy of a document that a browser keeps. */
interface LocalCopy {
  /** Whether there was one; the document has its content then. */
  readonly loaded: Promise<boolean>
  isOrigin(origin: unknown): boolean
  close(): Promise<void>
  remove(): Promise<void>
}

const none: LocalCopy = {
  loaded: Promise.resolve(false),
  isOrigin: () => false,
  close: async () => undefined,
  remove: async () => undefined,
}

/** Keeps the document in IndexedDB, where there is one and it can be opened: private windows may refuse. */
export function openLocalCopy(
  { baseUrl, fileId, keepsLocalCopy = true }: LocalCopyOptions,
  doc: Y.Doc,
): LocalCopy {
  if (!keepsLocalCopy || !('indexedDB' in globalThis)) return none
  const name = `kith ${new URL(baseUrl).host} ${fileId}`
  let opened: import('y-indexeddb').IndexeddbPersistence | undefined
  const open = async () => {
    const { IndexeddbPersistence } = await import('y-indexeddb')
    opened = new IndexeddbPersistence(name, doc)
    await opened.whenSynced
    return doc.store.clients.size > 0
  }
  return {
    loaded: open().catch(() => false),
    isOrigin: (origin) => opened !== undefined && origin === opened,
    close: async () => await opened?.destroy(),
    remove: async () => await opened?.clearData(),
  }
}

interface LocalCopyOptions {
  readonly baseUrl: string
  readonly fileId: string
  readonly keepsLocalCopy?: boolean
}
