import { readFileSync } from 'node:fs'
import { connectDocument, type SocketLike } from '@kith/client/crdt'
import { connectDatabase } from '@kith/client/rtdb'
import { createAction, createFile, listFiles } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { TestServer } from '#harness/test-server.ts'
import { example as databases } from './client-examples/databases.ts'
import { example as documents } from './client-examples/documents.ts'
import { example as endpoints } from './client-examples/endpoints.ts'
import { example as events } from './client-examples/events.ts'
import type { Given } from './client-examples/given.ts'
import { example as sharing } from './client-examples/sharing.ts'

const home = 'home.localhost'
const visitor = 'visitor.localhost'
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const blocks = [...read('../../../client/README.md').matchAll(/^## (\w+)\n```ts\n(.*?)^```/gms)]

/** Not every resolver knows names below `localhost`. */
function connect(url: string): SocketLike {
  const { host, port, pathname, search } = new URL(url)
  return new WebSocket(`ws://127.0.0.1:${port}${pathname}${search}`, { headers: { host } }) as SocketLike
}

/** Without what the formatter decides. */
const bare = (code: string) => code.replaceAll(/[\s;]+/g, '').replaceAll(/,(?=[)\]}])/g, '')

// The function around an example, and notes for the linter.
const around =
  /^(import type \{ Given \}|export async function example| {2}return \[|\}$| *\/\/ biome-ignore)/

function exampleOf(heading: string): string {
  const lines = read(`./client-examples/${heading.toLowerCase()}.ts`).split('\n')
  return lines.filter((line) => !around.test(line)).join('\n')
}

test.each(blocks)('the example under "%s" of the README is the one that is run here', (...block) => {
  const [, heading = '', code = ''] = block
  expect(bare(code)).toBe(bare(exampleOf(heading)))
})

describe('the examples of the README', () => {
  let server: TestServer
  let token: string
  const closing: { close(): void }[] = []
  beforeAll(async () => {
    server = await TestServer.start()
    token = await server.signIn(home)
    await server.createTenant(visitor)
  })
  afterAll(async () => {
    for (const connected of closing) connected.close()
    await server?.stop()
  })

  async function run(
    example: (given: Given) => Promise<readonly { close(): void }[]>,
    fileTp?: 'CRDT' | 'RTDB',
  ) {
    const client = server.client(home, token)
    const fileId = fileTp ? (await client.call(createFile, { body: { fileTp } })).data.fileId : ''
    const place = { baseUrl: `http://127.0.0.1:${server.running.port}`, fileId, token }
    const shown: unknown[] = []
    const states: object[] = []
    const opened = await example({
      ...place,
      alice: { ...place, idTag: home },
      bob: {
        idTag: visitor,
        baseUrl: `http://${visitor}:${server.running.port}`,
        token: await server.signIn(visitor),
        ...{ connect },
      },
      seenBefore: 0,
      show: (...items) => void shown.push(items),
      showState: (state) => void states.push(state),
      reload: () => undefined,
    })
    closing.push(...opened)
    return { shown, states, place, client }
  }

  test('endpoints: a file is made, and actions are listed', async () => {
    const { shown, client } = await run(endpoints)
    expect(shown).toMatchObject([[{ fileTp: 'CRDT' }], [[]]])
    expect((await client.call(listFiles, {})).data.map(({ fileName }) => fileName)).toContain('Minutes')
  })

  test('events: each is shown', async () => {
    const { shown, client } = await run(events)
    await client.call(createAction, { body: { type: 'POST', content: { text: 'Hello' } } })
    await expect.poll(() => shown).toContainEqual([expect.objectContaining({ cmd: 'ACTION' })])
  })

  test('documents: what is inserted is saved', async () => {
    const { states, place } = await run(documents, 'CRDT')
    expect(states.at(-1)).toEqual({ kind: 'saved' })
    const other = connectDocument(place)
    closing.push(other)
    await other.loaded()
    expect(`${other.doc.getText('body')}`).toBe('Hello')
  })

  test('sharing: what one adds is shown to the other', async () => {
    const { shown } = await run(sharing)
    await expect.poll(() => shown).toContainEqual([[expect.objectContaining({ title: 'Buy milk' })]])
  })

  test('databases: open tasks are shown, and the transaction is done', async () => {
    const { shown, place } = await run(databases, 'RTDB')
    expect(shown).toContainEqual([[expect.objectContaining({ title: 'Write' })], expect.anything()])
    const other = connectDatabase(place)
    closing.push(other)
    expect(await other.collection('tasks').get()).toMatchObject([{ title: 'Write', done: true }])
    const [list] = await other.collection<{ name: string }>('lists').get()
    expect(list?.name).toBe('Home')
    expect(await other.collection(`lists/${list?.id}/tasks`).get()).toMatchObject([{ title: 'Sweep' }])
  })
})
