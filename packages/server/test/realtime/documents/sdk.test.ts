import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectedDocument, connectDocument, type DocumentState } from '@kith/client/crdt'
import { deleteFile } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { makeDocument } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const retry = { firstMs: 5, longestMs: 50 }

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

interface Opened {
  readonly document: ConnectedDocument
  readonly states: DocumentState[]
}

function open(port: number, fileId: string, token: string | undefined, doc = new Y.Doc()): Opened {
  const states: DocumentState[] = []
  const document = connectDocument({
    baseUrl: `http://127.0.0.1:${port}`,
    ...{ fileId, doc, retry },
    ...(token === undefined ? {} : { token: () => token }),
    onState: (state) => states.push(state),
  })
  cleanUps.push(() => document.close())
  return { document, states }
}

const textOf = ({ doc }: ConnectedDocument) => doc.getText('text')

test('a change is saved once the server has it on its disk, and others see it', async () => {
  await using server = await TestServer.start()
  const { fileId, token } = await makeDocument(server, home)
  const { port } = server.running
  const alice = open(port, fileId, token)
  const bob = open(port, fileId, token)
  await Promise.all([alice.document.saved(), bob.document.saved()])
  textOf(alice.document).insert(0, 'hello')
  expect(alice.document.state).toEqual({ kind: 'saving' })
  await alice.document.saved()
  await expect.poll(() => textOf(bob.document).toString()).toBe('hello')
  textOf(alice.document).delete(1, 3)
  expect(alice.document.state).toEqual({ kind: 'saving' })
  await alice.document.saved()
  await expect.poll(() => textOf(bob.document).toString()).toBe('ho')
  bob.document.awareness.setLocalState({ user: { idTag: 'mallory.example', name: 'Bob' } })
  const seen = () => alice.document.awareness.getStates().get(bob.document.doc.clientID)
  await expect.poll(seen).toEqual({ user: { idTag: home, name: 'Bob' } })
  bob.document.close()
  await expect.poll(seen).toBeUndefined()
  expect(bob.states.at(-1)).toMatchObject({ kind: 'ended', code: 1000, hasUnsaved: false })
})

test('what is written offline is saved when the server is back', async () => {
  await using link = await CuttableLink.open()
  const dataDir = await mkdtemp(join(tmpdir(), 'kith-documents-'))
  cleanUps.push(() => rm(dataDir, { recursive: true, force: true }))
  const first = await TestServer.start({ link, dataDir })
  const { fileId, token } = await makeDocument(first, home)
  const alice = open(link.port, fileId, token)
  await alice.document.saved()
  await first.stop()
  await expect.poll(() => alice.document.state.kind).toBe('offline')
  textOf(alice.document).insert(0, 'offline')
  expect(alice.document.state).toMatchObject({ kind: 'offline', hasUnsaved: true })
  const second = await TestServer.start({ link, dataDir })
  cleanUps.push(() => second.stop())
  await alice.document.saved()
  const bob = open(link.port, fileId, token)
  await bob.document.loaded()
  expect(textOf(bob.document).toString()).toBe('offline')
})

test('who may only read is told so, and what they write stays with them', async () => {
  await using server = await TestServer.start()
  const { fileId, token } = await makeDocument(server, home, { visibility: 'P' })
  const { port } = server.running
  const owner = open(port, fileId, token)
  await owner.document.saved()
  const guest = open(port, fileId, undefined)
  await guest.document.loaded()
  await expect.poll(() => guest.document.state).toEqual({ kind: 'readOnly' })
  textOf(guest.document).insert(0, 'mine')
  await expect(guest.document.saved()).rejects.toThrow('only be read')
  textOf(owner.document).insert(0, 'theirs')
  await owner.document.saved()
  await expect.poll(() => textOf(guest.document).toString()).toContain('theirs')
  expect(textOf(owner.document).toString()).toBe('theirs')
})

test('it ends when the file is gone, and says what was not saved', async () => {
  await using server = await TestServer.start()
  const { fileId, token } = await makeDocument(server, home)
  const alice = open(server.running.port, fileId, token)
  await alice.document.saved()
  await server.client(home, token).call(deleteFile, { params: { fileId } })
  server.clock.advance(5000)
  await expect.poll(() => alice.document.state).toMatchObject({ kind: 'ended', code: 4404 })
  textOf(alice.document).insert(0, 'late')
  expect(alice.document.state).toMatchObject({ kind: 'ended', hasUnsaved: true })
  await expect(alice.document.saved()).rejects.toMatchObject({ name: 'ConnectionLost', code: 4404 })
})
