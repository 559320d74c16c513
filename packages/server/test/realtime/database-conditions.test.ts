import { type ConnectedDatabase, connectDatabase, type QueryOperator } from '@kith/client/rtdb'
import { createFile } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

interface Task {
  readonly title?: string
  readonly done?: boolean
  readonly due?: number | string | null | boolean | readonly number[]
  readonly tags?: readonly string[]
}

const home = 'home.localhost'
const tasks: Readonly<Record<string, Task>> = {
  five: { due: 5, done: true, title: 'm', tags: ['a', 'b'] },
  ten: { due: 10, done: false, title: 'z', tags: ['b'] },
  minus: { due: -3, done: false, title: '' },
  text: { due: 'x' },
  empty: { due: '' },
  yes: { due: true },
  none: { due: null, done: true },
  list: { due: [7] },
  missing: { title: 'a' },
}

let server: TestServer
let database: ConnectedDatabase
beforeAll(async () => {
  server = await TestServer.start()
  const token = await server.signIn(home)
  const { data } = await server.client(home, token).call(createFile, { body: { fileTp: 'RTDB' } })
  const baseUrl = `http://127.0.0.1:${server.running.port}`
  database = connectDatabase({ baseUrl, fileId: data.fileId, token })
  for (const [id, task] of Object.entries(tasks)) await collection().doc(id).set(task)
})
afterAll(async () => {
  database?.close()
  await server.stop()
})

const collection = () => database.collection<Task>('tasks')
const idsOf = async (query: { get(): Promise<readonly { readonly id: string }[]> }) =>
  (await query.get()).map(({ id }) => id).sort()

describe('the operators of Firebase mean what they mean there', () => {
  test.each<[QueryOperator, unknown, string]>([
    ['==', 5, 'five'],
    ['==', null, 'none'],
    ['!=', 5, 'empty list minus ten text yes'],
    ['!=', null, 'empty five list minus ten text yes'],
    ['<', 10, 'five minus'],
    ['<=', 10, 'five minus ten'],
    ['>', 5, 'ten'],
    ['>=', 5, 'five ten'],
    ['<', 'y', 'empty text'],
    ['<=', '', 'empty'],
    ['>', '', 'text'],
    ['>=', '', 'empty text'],
    ['in', [5, 'x', null], 'five none text'],
    ['not-in', [5, 'x'], 'empty list minus ten yes'],
    ['array-contains', 7, 'list'],
    ['array-contains-any', [7, 8], 'list'],
  ])('%s %j', async (operator, operand, expected) => {
    const found = await idsOf(collection().where('due', operator, operand as never))
    expect(found.join(' ')).toBe(expected)
  })

  test('two of them about one field', async () => {
    expect(await idsOf(collection().where('due', '>=', 0).where('due', '<=', 9))).toEqual(['five'])
    expect(await idsOf(collection().where('due', '!=', 5).where('due', '<', 100))).toEqual(['minus', 'ten'])
    expect(await idsOf(collection().where('due', '<', 100).where('due', '!=', 5))).toEqual(['minus', 'ten'])
    expect(await idsOf(collection().where('title', '>', 'a').where('title', '<', 'n'))).toEqual(['five'])
  })

  test('in subscriptions and groups as well', async () => {
    const told: string[][] = []
    const stop = collection()
      .where('done', '!=', true)
      .onChange((found) => told.push(found.map(({ id }) => id)))
    await expect.poll(() => told).toEqual([['minus', 'ten']])
    stop()
    expect(await collection().where('tags', 'array-contains', 'b').groups({ groupBy: 'done' })).toEqual([
      { group: 'false', count: 1 },
      { group: 'true', count: 1 },
    ])
  })
})

test('the operators of the protocol are sent as they are', async () => {
  expect(await idsOf(collection().where('due', 'notEquals', 5))).toContain('missing')
  expect(await idsOf(collection().where('due', 'greaterThan', 5))).toContain('none')
  expect(await idsOf(collection().where('tags', 'arrayContainsAll', ['a', 'b']))).toEqual(['five'])
})

describe('a condition that would be lost, and let more match, throws at once', () => {
  const clumsy = () =>
    database.collection('tasks') as unknown as Record<'where', (...args: unknown[]) => unknown>
  const operators = /there are equals, .*, arrayContainsAll, ==, !=, .*, array-contains-any$/

  test.each(['=', '===', 'eq', 'is', 'like', '', 'toString', '__proto__', undefined, null, 5])(
    'the operator %j, with the list of operators',
    (operator) => {
      expect(() => clumsy().where('done', operator, true)).toThrow(TypeError)
      expect(() => clumsy().where('done', operator, true)).toThrow(operators)
    },
  )

  test('a value that is missing, and a field that is no text', () => {
    expect(() => clumsy().where('done', '==')).toThrow('needs the name of a field and a value')
    expect(() => clumsy().where(undefined, '==', true)).toThrow('needs the name of a field and a value')
    expect(() => clumsy().where('done', '==', undefined)).toThrow('needs the name of a field and a value')
  })

  test.each(['in', 'not-in', 'inArray', 'notInArray', 'array-contains-any', 'arrayContainsAll'])(
    '%s without an array',
    (operator) => {
      expect(() => clumsy().where('due', operator, 5)).toThrow('needs an array')
    },
  )

  test('a second one of the same field and operator, under either name', () => {
    const once = collection().where('due', '<', 5)
    expect(() => once.where('due', 'lessThan', 3)).toThrow('would replace a condition of "due"')
    expect(() => once.where('due', '<', 3)).toThrow(TypeError)
    expect(() => once.where('title', '<', 'x').where('due', '>', 1)).not.toThrow()
    expect(() => collection().where('due', '!=', 1).where('due', 'not-in', [2])).toThrow('"not-in"')
  })

  test('a field named as a member of every object is a field', async () => {
    const other = database.collection<{ readonly __proto__: number }>('others')
    await database.transaction([
      { type: 'create', path: 'others', data: JSON.parse('{"__proto__": 1}') as Record<string, unknown> },
      { type: 'create', path: 'others', data: {} },
    ])
    expect(await other.where('__proto__', '==', 1).get()).toHaveLength(1)
  })
})

describe('a path of the wrong kind throws at once', () => {
  test.each(['a/b', '', '/', 'a//b', 'a/b/', '//a'])('collection(%j)', (path) => {
    expect(() => database.collection(path)).toThrow(TypeError)
  })

  test.each(['', 'a/b', '/x/', 'x//y'])('doc(%j)', (id) => {
    expect(() => collection().doc(id)).toThrow('is not the path of a document')
  })

  test.each(['', 'a/b'])('a collection %j below a document', (name) => {
    expect(() => collection().doc('five').collection(name)).toThrow('is not the path of a collection')
  })

  test('and one of the right kind does not', () => {
    expect(collection().path).toBe('tasks')
    expect(database.collection('/lists/home/tasks/').path).toBe('lists/home/tasks')
    expect(database.collection('lists').doc('home/tasks/one').path).toBe('lists/home/tasks/one')
  })
})
