import { connectBus } from '@kith/client/bus'
import { connectDocument, type DocumentOptions } from '@kith/client/crdt'
import { connectDatabase, type DatabaseOptions } from '@kith/client/rtdb'
import { createFile } from '@kith/protocol'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const retry = { firstMs: 5, longestMs: 50 }
// Without callbacks the clients write to the console.
const quiet = { onState: () => undefined, onRetry: () => undefined }

let server: TestServer
let link: CuttableLink
let token: string
let baseUrl: string
const closing: { close(): void }[] = []
beforeAll(async () => {
  server = await TestServer.start()
  link = await CuttableLink.open()
  link.leadTo(server.running.port)
  token = await server.signIn(home)
  baseUrl = `http://127.0.0.1:${link.port}`
})
afterEach(() => {
  for (const connected of closing.splice(0)) connected.close()
  link.set('open')
})
afterAll(async () => {
  await link[Symbol.asyncDispose]()
  await server.stop()
})

const create = async (fileTp: 'CRDT' | 'RTDB') =>
  (await server.client(home, token).call(createFile, { body: { fileTp } })).data.fileId

function openDocument(fileId: string, options: Partial<DocumentOptions> = {}) {
  const document = connectDocument({ baseUrl, fileId, token, retry, ...quiet, ...options })
  closing.push(document)
  return document
}

function openDatabase(fileId: string, options: Partial<DatabaseOptions> = {}) {
  const database = connectDatabase({ baseUrl, fileId, token, retry, ...quiet, ...options })
  closing.push(database)
  return database
}

/** The server says so a second after the upgrade. */
async function ended(connected: { readonly state: object }, code: number): Promise<void> {
  await expect
    .poll(() => {
      server.clock.advance(200)
      return connected.state
    })
    .toMatchObject({ kind: 'ended', code })
}

test('a file of the other type ends the connection, and says so', async () => {
  const [document, database] = await Promise.all([create('CRDT'), create('RTDB')])
  const asDocument = openDocument(database)
  const loaded = expect(asDocument.loaded()).rejects.toThrow('another type')
  await ended(asDocument, 4409)
  await loaded
  const asDatabase = openDatabase(document)
  const read = expect(asDatabase.collection('tasks').get()).rejects.toThrow('another type')
  await ended(asDatabase, 4409)
  await read
})

test('an id that nothing has ends the connection', async () => {
  const document = openDocument('f1~nothing')
  const loaded = expect(document.loaded()).rejects.toThrow('not found')
  await ended(document, 4404)
  await loaded
})

test('a server that is not there is told, and tried again', async () => {
  const errors: string[] = []
  link.set('refused')
  const onRetry = ({ error }: { error: Error }) => errors.push(error.message)
  const document = openDocument(await create('CRDT'), { onRetry })
  await expect.poll(() => errors.length).toBeGreaterThan(2)
  expect(errors[0]).toContain(`ws://127.0.0.1:${link.port} failed`)
  expect(document.state.kind).toBe('loading')
  link.set('open')
  await document.saved()
})

test('a document that cannot be reached is not waited for without end, and loads once it can be', async () => {
  link.set('refused')
  const document = openDocument(await create('CRDT'), { timeoutMs: 100, onRetry: () => undefined })
  const failed = await document.loaded().catch((error: unknown) => error)
  expect(failed).toMatchObject({
    ...{ name: 'ConnectionLost', code: 1006 },
    message: expect.stringContaining(`no connection to ${baseUrl} within 100 ms: the connection to ws://`),
  })
  expect(document.state).toMatchObject({ kind: 'loading', attempt: expect.any(Number) })
  link.set('open')
  document.reconnect()
  await expect.poll(() => document.state).toEqual({ kind: 'saved' })
  await document.loaded()
})

test.each([{ fileId: '' }, { fileId: undefined as never }, { timeoutMs: -1 }, { baseUrl: 'alice.example' }])(
  '%j is refused at once',
  (options) => {
    expect(() => openDocument('f1~x', options)).toThrow(TypeError)
    expect(() => openDatabase('r1~x', options)).toThrow(TypeError)
  },
)

test('a token function that fails is told, and asked again', async () => {
  const errors: string[] = []
  let calls = 0
  const database = openDatabase(await create('RTDB'), {
    token: async () => {
      calls += 1
      if (calls < 3) throw new Error('no session')
      return token
    },
    onRetry: ({ error }) => errors.push(error.message),
  })
  expect(await database.collection('tasks').get()).toEqual([])
  expect(errors).toEqual(['no session', 'no session'])
})

test('a read right after the connection broke waits for the next one', async () => {
  const closed = Promise.withResolvers<unknown>()
  const connect = (url: string) => {
    const socket = new WebSocket(url)
    socket.addEventListener('close', closed.resolve)
    return socket
  }
  const database = openDatabase(await create('RTDB'), { connect })
  await database.collection('tasks').add({ title: 'one' })
  link.set('refused')
  await closed.promise
  const reading = database.collection('tasks').get()
  link.set('open')
  expect(await reading).toMatchObject([{ title: 'one' }])
})

test('closed while it connects, everything that waits is rejected', async () => {
  const [fileId, databaseId] = await Promise.all([create('CRDT'), create('RTDB')])
  const document = openDocument(fileId)
  const loaded = document.loaded()
  document.close()
  await expect(loaded).rejects.toThrow('closed by the client')
  const database = openDatabase(databaseId)
  const pending = [
    database.collection('tasks').get(),
    database.collection('tasks').add({ title: 'x' }),
    database.lock('tasks/x'),
  ]
  database.close()
  for (const { status } of await Promise.allSettled(pending)) expect(status).toBe('rejected')
  const bus = connectBus({ baseUrl, token, onEvent: () => undefined })
  bus.close()
  await expect(bus.ask('ping', {})).rejects.toMatchObject({ name: 'ConnectionLost', code: 1006 })
})

test('every call after closing fails with an error, and none hangs', async () => {
  const [fileId, databaseId] = await Promise.all([create('CRDT'), create('RTDB')])
  const document = openDocument(fileId)
  await document.saved()
  document.close()
  document.close()
  await expect(document.saved()).rejects.toThrow('closed by the client')
  document.doc.getText('text').insert(0, 'late')
  const database = openDatabase(databaseId)
  const tasks = database.collection('tasks')
  await tasks.get()
  database.close()
  database.close()
  await expect(tasks.get()).rejects.toThrow('closed by the client')
  await expect(tasks.add({})).rejects.toThrow('closed by the client')
  await expect(database.lock('tasks/x')).rejects.toThrow('closed by the client')
  await database.unlock('tasks/x')
  const errors: Error[] = []
  tasks.onChange(
    () => undefined,
    (error) => errors.push(error),
  )
  await expect.poll(() => errors).toMatchObject([{ name: 'ConnectionLost' }])
})

test('what JSON cannot represent is refused where it is given, and the next call works', async () => {
  const database = openDatabase(await create('RTDB'))
  const tasks = database.collection<{ count: unknown }>('tasks')
  await expect(tasks.add({ count: 1n })).rejects.toThrow(TypeError)
  await expect(tasks.where('count', 'equals', 1n).get()).rejects.toThrow(TypeError)
  const present = openDatabase(await create('RTDB'), { hasPresence: true })
  expect(() => present.setPresence({ count: 1n })).toThrow(TypeError)
  await tasks.add({ count: 1 })
  expect(await tasks.get()).toMatchObject([{ count: 1 }])
})
