import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ConnectedDatabase,
  connectDatabase,
  type DatabaseOptions,
  type RtdbPresenceChange,
} from '@kith/client/rtdb'
import { createFile } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { TestServer } from '#harness/test-server.ts'

interface Task {
  readonly title: string
  readonly done: boolean
  readonly due: number
  readonly tags?: readonly string[]
}

const home = 'home.localhost'
const retry = { firstMs: 5, longestMs: 50 }
const task = (title: string, due: number, done = false): Task => ({ title, done, due })

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function open(
  port: number,
  fileId: string,
  token: string | undefined,
  options: Partial<DatabaseOptions> = {},
): ConnectedDatabase {
  const database = connectDatabase({
    baseUrl: `http://127.0.0.1:${port}`,
    ...{ fileId, retry },
    ...(token === undefined ? {} : { token: () => token }),
    ...options,
  })
  cleanUps.push(() => database.close())
  return database
}

async function make(server: TestServer, visibility: 'P' | null = null) {
  const token = await server.signIn(home)
  const { data } = await server
    .client(home, token)
    .call(createFile, { body: { fileTp: 'RTDB', fileName: 'tasks', visibility } })
  return { fileId: data.fileId, token, port: server.port }
}

test('a query is told as it stands, after each change, in its order', async () => {
  await using server = await TestServer.start()
  const { fileId, token, port } = await make(server)
  const alice = open(port, fileId, token).collection<Task>('tasks')
  const bob = open(port, fileId, token).collection<Task>('/tasks/')
  await alice.add(task('b', 2))
  const told: string[][] = []
  const stop = bob
    .where('done', 'equals', false)
    .where('due', 'lessThan', 10)
    .orderBy('due', 'desc')
    .limit(2)
    .onChange((documents) => told.push(documents.map(({ title }) => title)))
  await expect.poll(() => told).toEqual([['b']])
  const first = await alice.add(task('a', 1))
  const third = await alice.add(task('c', 3))
  await alice.add(task('later', 99))
  await expect.poll(() => told.at(-1)).toEqual(['c', 'b'])
  await alice.doc(third).update({ done: true })
  await expect.poll(() => told.at(-1)).toEqual(['b', 'a'])
  await alice.doc(first).delete()
  await expect.poll(() => told.at(-1)).toEqual(['b'])
  expect((await bob.orderBy('due').get()).map(({ title }) => title)).toEqual(['b', 'c', 'later'])
  stop()
  const count = told.length
  await alice.add(task('unseen', 0))
  await bob.get()
  expect(told.length).toBe(count)
})

test('one document, groups, and collections below documents', async () => {
  await using server = await TestServer.start()
  const { fileId, token, port } = await make(server)
  const database = open(port, fileId, token)
  const tasks = database.collection<Task>('tasks')
  const seen: (Task | null)[] = []
  tasks.doc('one').onChange((document) => seen.push(document))
  await expect.poll(() => seen).toEqual([null])
  await tasks.doc('one').set(task('first', 1))
  await expect.poll(() => seen.at(-1)).toEqual({ id: 'one', ...task('first', 1) })
  await tasks.doc('one').delete()
  await expect.poll(() => seen.at(-1)).toBeNull()
  const groups: unknown[] = []
  tasks.onGroups({ groupBy: 'done', ops: [{ op: 'sum', field: 'due' }] }, (rows) => groups.push(rows))
  await tasks.add(task('x', 2))
  await tasks.add(task('y', 3))
  const rows = [{ group: 'false', count: 2, sum_due: 5 }]
  await expect.poll(() => groups.at(-1)).toEqual(rows)
  expect(await tasks.groups({ groupBy: 'done', ops: [{ op: 'sum', field: 'due' }] })).toEqual(rows)
  const results = await database.transaction([
    { type: 'create', path: 'lists', data: { name: 'Home' }, ref: '$list' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the server puts the id in its place
    { type: 'create', path: 'lists/${$list}/tasks', data: { ...task('z', 4) } },
  ])
  const below = database
    .collection('lists')
    .doc(results[0]?.id ?? '')
    .collection<Task>('tasks')
  expect((await below.get()).map(({ title }) => title)).toEqual(['z'])
  expect(await below.doc('none').get()).toBeNull()
})

test('what the server refuses is told', async () => {
  await using server = await TestServer.start()
  const { fileId, token, port } = await make(server, 'P')
  const database = open(port, fileId, token)
  const tasks = database.collection<Task>('tasks')
  await expect(database.collection('x'.repeat(200)).get()).rejects.toMatchObject({ code: 400 })
  const guest = open(port, fileId, undefined)
  await expect(guest.collection<Task>('tasks').add(task('no', 1))).rejects.toMatchObject({ code: 403 })
  expect(await guest.collection('tasks').get()).toEqual([])
  const errors: unknown[] = []
  database.collection('a/'.repeat(41)).onChange(
    () => undefined,
    (error) => errors.push(error),
  )
  await expect.poll(() => errors).toMatchObject([{ code: 400 }])
  await tasks.add(task('yes', 1))
})

test('what is written without a server waits, and is done once it is back; what is watched is read anew', async () => {
  await using link = await CuttableLink.open()
  const dataDir = await mkdtemp(join(tmpdir(), 'kith-databases-'))
  cleanUps.push(() => rm(dataDir, { recursive: true, force: true }))
  const first = await TestServer.start({ link, dataDir })
  const { fileId, token, port } = await make(first)
  const database = open(port, fileId, token)
  const tasks = database.collection<Task>('tasks')
  const titles: string[][] = []
  tasks.orderBy('due').onChange((documents) => titles.push(documents.map(({ title }) => title)))
  await tasks.add(task('before', 1))
  await first.stop()
  await expect.poll(() => database.state.kind).toBe('connecting')
  const added = tasks.add(task('meanwhile', 2))
  await expect.poll(() => database.state.waiting).toBe(1)
  const second = await TestServer.start({ link, dataDir })
  cleanUps.push(() => second.stop())
  await added
  expect(database.state.waiting).toBe(0)
  await expect.poll(() => titles.at(-1)).toEqual(['before', 'meanwhile'])
  expect((await tasks.get()).length).toBe(2)
})

test('locks are held against others, and people see each other', async () => {
  await using server = await TestServer.start()
  const { fileId, token, port } = await make(server)
  const changes: RtdbPresenceChange[] = []
  const alice = open(port, fileId, token, {
    hasPresence: true,
    onPresence: (change) => changes.push(change),
  })
  const again = open(port, fileId, token, { hasPresence: true })
  expect(await alice.lock('tasks/one', 'hard')).toEqual({ locked: true })
  await alice.collection<Task>('tasks').doc('one').set(task('mine', 1))
  await alice.unlock('tasks/one')
  again.setPresence({ looksAt: 'tasks/one' })
  await expect.poll(() => changes.at(-1)).toMatchObject({ action: 'join', state: { looksAt: 'tasks/one' } })
  again.close()
  await expect.poll(() => changes.at(-1)?.action).toBe('leave')
})
