import { connectDatabase } from '@kith/client/rtdb'
import { createFile } from '@kith/protocol'
import { expect, test } from 'vitest'
import { TestServer } from '../../../packages/server/test/harness/test-server.ts'
import { List } from '../src/list.ts'

test('an entry that was ticked while somebody removed it comes back whole', async () => {
  await using server = await TestServer.start()
  const token = await server.signIn('home.localhost')
  const client = server.client('home.localhost', token)
  const { data: file } = await client.call(createFile, { body: { fileTp: 'RTDB' } })
  const open = () => {
    const database = connectDatabase({
      baseUrl: `http://127.0.0.1:${server.port}`,
      fileId: file.fileId,
      token: () => token,
    })
    return { list: new List(database, () => undefined), [Symbol.dispose]: () => database.close() }
  }
  using hers = open()
  using his = open()
  const titles = ({ list }: typeof hers) => list.items.map(({ title, done }) => `${title} ${done}`)
  hers.list.add({ title: 'Milk', done: false, at: 1 })
  await expect.poll(() => titles(his)).toEqual(['Milk false'])
  const [milk] = his.list.items
  if (!milk) throw new Error('there is no entry')
  hers.list.remove(milk.id)
  await expect.poll(() => titles(his)).toEqual([])
  his.list.tick(milk, true)
  for (const each of [hers, his]) {
    await expect.poll(() => titles(each)).toEqual(['Milk true'])
    expect(each.list.counts).toEqual({ all: 1, open: 0, done: 1 })
  }
})
