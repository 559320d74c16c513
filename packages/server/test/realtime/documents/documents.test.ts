import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  createFile,
  createReference,
  createShare,
  deleteFile,
  deleteShare,
  duplicateFile,
  type FileId,
  getAccessToken,
  getFileMetadata,
  getProxyToken,
  listFileHistory,
  putSetting,
  restoreFileSnapshot,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { findFile } from '#features/files/index.ts'
import {
  makeDocument,
  RawDocumentClient,
  StockClient,
  type StockVersion,
  stockVersions,
} from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const visitorTag = 'visitor.localhost'
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(visitorTag)
})
afterAll(() => server.stop())

const stock = (fileId: string, token?: string, version: StockVersion = '3.1', doc = new Y.Doc()) =>
  StockClient.open({ port: server.running.port, host: home }, fileId, {
    version,
    doc,
    ...(token === undefined ? {} : { token }),
  }).synced()
const raw = (fileId: string, query = '') => RawDocumentClient.open(server, home, fileId, query)
const settled = () => server.running.features.realtime.settled()

/** A token with which the visitor comes to the host of the document. */
async function visitorToken(): Promise<string> {
  const { data } = await (await server.as(visitorTag)).call(getProxyToken, { query: { target: home } })
  return data.token
}

async function share(fileId: FileId, token: string, permission: 'R' | 'W') {
  const body = { subjectType: 'U', subjectId: visitorTag, permission } as const
  const { data } = await server.client(home, token).call(createShare, { params: { fileId }, body })
  return () => server.client(home, token).call(deleteShare, { params: { fileId, shareId: String(data.id) } })
}

/** A turn of everything that is under way, and so much time. */
async function later(ms: number): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  server.clock.advance(ms)
}

const updateHex = (update: Uint8Array) => {
  const length = update.length < 128 ? [update.length] : [(update.length % 128) | 128, update.length >> 7]
  return Buffer.from([0, 2, ...length, ...update]).toString('hex')
}

/** The code with which the server ends a client, a second after its upgrade at the earliest. */
async function codeOf({ client }: RawDocumentClient): Promise<number> {
  await expect
    .poll(() => {
      server.clock.advance(200)
      return client.socket.readyState
    })
    .toBe(WebSocket.CLOSED)
  return (await client.closed).code
}

/** An update that says `i` of the root map `name`. */
function mapUpdate(name: string, value: unknown): Uint8Array {
  const doc = new Y.Doc()
  doc.getMap(name).set('x', value)
  return Y.encodeStateAsUpdate(doc)
}

function docOf(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}

describe.each(stockVersions)('the stock client of version %s', (version) => {
  test('sees what others write, and finds it when it comes later', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using alice = await stock(fileId, token, version)
    await using bob = await stock(fileId, token, version)
    expect(alice.doc.getMap('meta').toJSON()).toEqual({ i: true })
    alice.text.insert(0, 'hello')
    await expect.poll(() => bob.text.toString()).toBe('hello')
    bob.text.insert(5, ' world')
    await expect.poll(() => alice.text.toString()).toBe('hello world')
    await using carol = await stock(fileId, token, version)
    expect(carol.text.toString()).toBe('hello world')
  })

  test('brings what it wrote while it was away', async () => {
    const { fileId, token } = await makeDocument(server, home)
    const doc = new Y.Doc()
    doc.getText('text').insert(0, 'offline')
    await using alice = await stock(fileId, token, version, doc)
    await using bob = await stock(fileId, token, version)
    await expect.poll(() => bob.text.toString()).toBe('offline')
    expect(alice.doc.getMap('meta').toJSON()).toEqual({ i: true })
  })

  test('shows who is there, with the identity that the server knows, until it goes', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await share(fileId, token, 'R')
    await using alice = await stock(fileId, token, version)
    alice.provider.awareness.setLocalStateField('user', { name: 'A', idTag: 'eve.localhost' })
    {
      await using visitor = await stock(fileId, await visitorToken(), version)
      visitor.provider.awareness.setLocalStateField('user', { name: 'V' })
      await expect.poll(() => alice.others).toEqual([{ user: { name: 'V', idTag: visitorTag } }])
      await expect.poll(() => visitor.others).toEqual([{ user: { name: 'A', idTag: home } }])
    }
    await expect.poll(() => alice.others).toEqual([])
  })

  test('is given a long document in pieces, each of which a slow line takes in seconds', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using writer = await stock(fileId, token)
    for (let at = 0; at < 40; at += 1) writer.text.insert(0, `${at % 10}`.repeat(30_000))
    await using other = await stock(fileId, token, version)
    await expect.poll(() => other.text.length).toBe(1_200_000)
    await using reader = await raw(fileId, `?token=${token}`)
    reader.send('00000100')
    await expect.poll(() => reader.frames.some((frame) => frame.startsWith('0001'))).toBe(true)
    const parts = reader.frames.filter((frame) => /^000[12]/.test(frame))
    expect(parts.length).toBeGreaterThanOrEqual(3)
    expect(Math.max(...parts.map(({ length }) => length / 2))).toBeLessThan(600_000)
    await using late = await stock(fileId, token, version)
    expect(late.text.toString()).toBe(writer.text.toString())
  })

  test('that may only read says so, and changes nothing', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await share(fileId, token, 'R')
    const denied: string[] = []
    const { warn } = console
    console.warn = (text: string) => void denied.push(text)
    try {
      await using reader = await stock(fileId, await visitorToken(), version)
      await using alice = await stock(fileId, token, version)
      reader.text.insert(0, 'mine')
      alice.text.insert(0, 'hers')
      await expect.poll(() => reader.text.toString()).toContain('hers')
      await using later = await stock(fileId, token, version)
      expect(later.text.toString()).toBe('hers')
      expect(denied).toEqual([expect.stringContaining('this document is read-only for you')])
    } finally {
      console.warn = warn
    }
  })
})

describe('a document lets in', () => {
  test('guests of public ones, who may read', async () => {
    const { fileId } = await makeDocument(server, home, { visibility: 'P' })
    await using guest = await raw(fileId)
    await guest.caughtUp()
    guest.send(updateHex(mapUpdate('m', 1)))
    await guest.caughtUp()
    expect(docOf(guest.updates).getMap('m').toJSON()).toEqual({})
  })

  test('nobody without a right: guests 1008, whether there is such a file or not, and identities 4404', async () => {
    const { fileId } = await makeDocument(server, home)
    const unknown = `c1~${'A'.repeat(43)}`
    for (const id of [fileId, unknown, 'nonsense']) {
      const guest = await raw(id)
      const stranger = await raw(id, `?token=${await visitorToken()}`)
      expect(await codeOf(stranger)).toBe(4404)
      expect(await guest.client.closed).toEqual({ code: 1008, reason: 'authentication failed' })
    }
    const bad = await raw(fileId, '?token=nonsense')
    expect(await codeOf(bad)).toBe(1008)
  })

  test('writers where a client insists on writing (4403), and no other types (4409)', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await share(fileId, token, 'R')
    const reader = await raw(fileId, `?access=write&token=${await visitorToken()}`)
    expect(await codeOf(reader)).toBe(4403)
    const { data: database } = await server.client(home, token).call(createFile, { body: { fileTp: 'RTDB' } })
    const wrong = await raw(database.fileId, `?token=${token}`)
    expect(await codeOf(wrong)).toBe(4409)
  })

  test('guests with a reference that may write', async () => {
    const { fileId, token } = await makeDocument(server, home)
    const client = server.client(home, token)
    const { data: ref } = await client.call(createReference, {
      body: { type: 'share.file', resourceId: fileId, accessLevel: 'write' },
    })
    const { data: access } = await server.client(home).call(getAccessToken, { query: { ref: ref.refId } })
    await using guest = await stock(fileId, access.token)
    guest.text.insert(0, 'from a guest')
    await using owner = await stock(fileId, token)
    await expect.poll(() => owner.text.toString()).toBe('from a guest')
  })
})

describe('a connection', () => {
  test('begins with the state vector of the server, and then who is there', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using first = await raw(fileId, `?token=${token}`)
    await first.caughtUp()
    // Client 1802073192 has written one thing.
    expect(first.frames[0]).toBe('00000701e8e8a5db0601')
    first.send('0119010500157b2275736572223a7b226e616d65223a2241227d7d')
    await first.client.until(3)
    await using second = await raw(fileId, `?token=${token}`)
    await second.client.until(2)
    const state = `{"user":{"name":"A","idTag":"${home}"}}`
    const length = state.length.toString(16).padStart(2, '0')
    const entry = `010500${length}${Buffer.from(state).toString('hex')}`
    const shown = `01${(entry.length / 2).toString(16).padStart(2, '0')}${entry}`
    expect(second.frames).toEqual(['00000701e8e8a5db0601', shown])
    second.send('03')
    await second.client.until(3)
    expect(second.frames[2]).toBe(shown)
  })

  test('is echoed its updates as they came, once they are durable, and nothing that was known', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using one = await raw(fileId, `?token=${token}`)
    await using other = await raw(fileId, `?token=${token}`)
    await Promise.all([one.caughtUp(), other.caughtUp()])
    const [hex, before] = [updateHex(mapUpdate('m', 1)), one.frames.length]
    for (let at = 0; at < 3; at += 1) one.send(hex)
    // As a second step it is the same.
    one.send(`0001${hex.slice(4)}`)
    await one.caughtUp()
    expect(one.frames.slice(before, -1)).toEqual([hex])
    await other.caughtUp()
    expect(other.frames.filter((frame) => frame === hex)).toHaveLength(1)
    const rows = await server.countRows('crdt_updates')
    one.send('0001020000')
    await one.caughtUp()
    expect(await server.countRows('crdt_updates')).toEqual(rows)
  })

  test('that answers with the state vector of the server gets what is missing alone', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using one = await raw(fileId, `?token=${token}`)
    await one.client.until(1)
    one.send('00000701e8e8a5db0601')
    await one.client.until(2)
    expect(one.frames[1]).toBe('0001020000')
  })

  test('is told once that it may only read, and again when it could write meanwhile', async () => {
    const { fileId, token } = await makeDocument(server, home)
    const end = await share(fileId, token, 'R')
    await using reader = await raw(fileId, `?token=${await visitorToken()}`)
    const denied = () => reader.frames.filter((frame) => frame.startsWith('0200'))
    reader.send('0001020000')
    reader.send(updateHex(mapUpdate('m', 1)))
    await reader.caughtUp()
    expect(denied()).toHaveLength(1)
    await share(fileId, token, 'W')
    await later(5000)
    const hex = updateHex(mapUpdate('m', 2))
    await expect
      .poll(async () => {
        reader.send(hex)
        await reader.caughtUp()
        return reader.frames.includes(hex)
      })
      .toBe(true)
    await share(fileId, token, 'R')
    await later(5000)
    await expect
      .poll(async () => {
        reader.send(updateHex(mapUpdate('m', 3)))
        await reader.caughtUp()
        return denied().length
      })
      .toBe(2)
    expect(reader.client.socket.readyState).toBe(1)
    await end()
    await later(5000)
    expect((await reader.client.closed).code).toBe(4403)
  })

  test('ends when the document goes to the trash (4404)', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using owner = await raw(fileId, `?token=${token}`)
    await owner.caughtUp()
    await server.client(home, token).call(deleteFile, { params: { fileId } })
    await later(5000)
    expect((await owner.client.closed).code).toBe(4404)
  })

  test('is ended by more than ten messages that cannot be read (1008), and not by those of later protocols', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using one = await raw(fileId, `?token=${token}`)
    for (const hex of ['64', '0009', '020000', '0301']) for (let at = 0; at < 5; at += 1) one.send(hex)
    await one.caughtUp()
    // Frames, state vectors, updates and states alike.
    for (const hex of ['', '00', '0002ff01', '000001ff', '000203fefdfc', '0101ff', '01070105007b6e6f6e'])
      one.send(hex)
    one.send('0108010500047b6e6f6e')
    await one.caughtUp()
    for (let at = 0; at < 3; at += 1) one.send('000203fefdfc')
    await later(1000)
    expect((await one.client.closed).code).toBe(1008)
  })

  test('keeps updates whose predecessors are missing, and relays them', async () => {
    const { fileId, token } = await makeDocument(server, home)
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    for (const letter of ['a', 'b', 'c']) doc.getText('text').insert(doc.getText('text').length, letter)
    const [first, ...later] = updates as [Uint8Array, Uint8Array, Uint8Array]
    {
      await using one = await raw(fileId, `?token=${token}`)
      await using other = await raw(fileId, `?token=${token}`)
      await other.caughtUp()
      for (const update of later) one.send(updateHex(update))
      await one.caughtUp()
      await other.caughtUp()
      const all = docOf([...other.updates, first])
      expect(all.getText('text').toString()).toBe('abc')
    }
    await server.running.features.realtime.settled()
    await using back = await raw(fileId, `?token=${token}`)
    await back.caughtUp()
    expect(
      docOf([...back.updates, first])
        .getText('text')
        .toString(),
    ).toBe('abc')
  })
})

describe('awareness', () => {
  const entry = (client: number, clock: number, state: string) => {
    const bytes = [1, client, clock, state.length, ...Buffer.from(state)]
    return Buffer.from([1, bytes.length, ...bytes]).toString('hex')
  }

  test('has a client for the connection that used it first; its owner takes it over, and others do not', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await share(fileId, token, 'R')
    await using owner = await raw(fileId, `?token=${token}`)
    await using thief = await raw(fileId, `?token=${await visitorToken()}`)
    await using watcher = await raw(fileId, `?token=${token}`)
    await watcher.client.until(1)
    const shown = () => watcher.frames.filter((frame) => frame.startsWith('01'))
    owner.send(entry(5, 0, '{"x":1}'))
    await expect.poll(shown).toEqual([entry(5, 0, '{"x":1}')])
    thief.send(entry(5, 9, '{"x":2}'))
    await thief.caughtUp()
    {
      await using back = await raw(fileId, `?token=${token}`)
      back.send(entry(5, 1, '{"x":1}'))
      await back.caughtUp()
      await owner[Symbol.asyncDispose]()
      await settled()
      await watcher.caughtUp()
      expect(shown()).toEqual([entry(5, 0, '{"x":1}'), entry(5, 1, '{"x":1}')])
    }
    await expect
      .poll(shown)
      .toEqual([...[0, 1].map((clock) => entry(5, clock, '{"x":1}')), entry(5, 2, 'null')])
  })

  test('is relayed sixty times a second, then the last state of each client', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using one = await raw(fileId, `?token=${token}`)
    await one.caughtUp()
    const shown = () => one.frames.filter((frame) => frame.startsWith('01'))
    for (let clock = 0; clock < 100; clock += 1) one.send(entry(5, clock, `{"x":${clock}}`))
    await one.caughtUp()
    expect(shown()).toHaveLength(60)
    await later(1000)
    await expect.poll(() => shown().slice(60)).toEqual([entry(5, 99, '{"x":99}')])
  })

  test('of more than 16 KiB, of more than eight clients or with a user that is no object is left out, and readers have it too', async () => {
    const { fileId } = await makeDocument(server, home, { visibility: 'P' })
    await using guest = await raw(fileId)
    await guest.caughtUp()
    for (let client = 1; client <= 10; client += 1) guest.send(entry(client, 0, '{}'))
    const large = `"${'x'.repeat(16 * 1024)}"`
    const body = Buffer.concat([Buffer.from([1, 1, 1, 0x82, 0x80, 1]), Buffer.from(large)])
    const outer = Buffer.from([
      1,
      (body.length % 128) | 128,
      ((body.length >> 7) % 128) | 128,
      body.length >> 14,
    ])
    guest.client.send(Buffer.concat([outer, body]))
    for (let clock = 1; clock <= 20; clock += 1) guest.send(entry(1, clock, '{"user":null}'))
    await guest.caughtUp()
    expect(guest.frames.filter((frame) => frame.startsWith('01'))).toHaveLength(8)
    expect(guest.client.socket.readyState).toBe(1)
  })
})

describe('a document', () => {
  test('says that it was changed, and how large it is', async () => {
    const { fileId, token } = await makeDocument(server, home)
    const client = server.client(home, token)
    const modifiedAt = async () => {
      const reader = server.db.reader((await server.running.features.identity.tenants.base()).tenantId)
      return (await findFile(reader, fileId))?.modifiedAt
    }
    const before = await modifiedAt()
    server.clock.advance(10_000)
    {
      await using one = await stock(fileId, token)
      one.text.insert(0, 'x'.repeat(100_000))
      await using other = await stock(fileId, token)
      await expect.poll(() => other.text.length).toBe(100_000)
    }
    await later(3000)
    await settled()
    expect(await modifiedAt()).toBeGreaterThanOrEqual((before ?? 0) + 10)
    const { data } = await client.call(getFileMetadata, { params: { fileId } })
    expect(data.size).toBeGreaterThan(100_000)
    expect(data.size).toBeLessThan(110_000)
  })

  test('for which the quota has no room is not changed, and its writers are told (4413)', async () => {
    await server.createTenant('full.localhost')
    const { fileId, token } = await makeDocument(server, 'full.localhost')
    const admin = await server.as(home)
    const setting = { params: { name: 'limits.max_storage_gb' }, body: { value: 0.0001 } }
    await admin.call(putSetting, setting as never)
    try {
      await using one = await RawDocumentClient.open(server, 'full.localhost', fileId, `?token=${token}`)
      await one.caughtUp()
      const doc = new Y.Doc()
      doc.getText('text').insert(0, 'x'.repeat(200_000))
      const update = Y.encodeStateAsUpdate(doc)
      const frame = Buffer.concat([
        Buffer.from([
          0,
          2,
          (update.length % 128) | 128,
          ((update.length >> 7) % 128) | 128,
          update.length >> 14,
        ]),
        update,
      ])
      one.client.send(frame)
      expect(await codeOf(one)).toBe(4413)
      await using again = await RawDocumentClient.open(server, 'full.localhost', fileId, `?token=${token}`)
      again.send(updateHex(mapUpdate('m', 1)))
      await again.caughtUp()
      expect(docOf(again.updates).getMap('m').toJSON()).toEqual({ x: 1 })
      expect(docOf(again.updates).getText('text').length).toBe(0)
    } finally {
      await admin.call(putSetting, { ...setting, body: { value: 0 } } as never)
    }
  })

  test('that cannot be stored ends all its connections (1011), and nothing of it is shown to others', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using one = await raw(fileId, `?token=${token}`)
    await using other = await raw(fileId, `?token=${token}`)
    await Promise.all([one.caughtUp(), other.caughtUp()])
    const shown = other.frames.length
    const file = new DatabaseSync(join(server.running.services.config.dataDir, 'kith.db'))
    try {
      file.exec(`create trigger broken before insert on crdt_updates
        begin select raise(abort, 'the disk is broken'); end`)
      one.send(updateHex(mapUpdate('m', 1)))
      expect((await one.client.closed).code).toBe(1011)
      expect((await other.client.closed).code).toBe(1011)
      expect(other.frames.slice(shown)).toEqual([])
    } finally {
      file.exec('drop trigger if exists broken')
      file.close()
    }
    await using again = await raw(fileId, `?token=${token}`)
    await again.caughtUp()
    expect(docOf(again.updates).getMap('m').toJSON()).toEqual({})
  })

  test('is read, restored and duplicated over HTTP', async () => {
    const { fileId, token } = await makeDocument(server, home)
    const client = server.client(home, token)
    const params = { fileId }
    const history = async () => (await client.call(listFileHistory, { params })).data
    /** Writes, closes the document, and waits until the server has seen that and made the snapshot. */
    const write = async (text: string, snapshots: number) => {
      await using one = await stock(fileId, token)
      one.text.insert(one.text.length, text)
      await using other = await stock(fileId, token)
      await expect.poll(() => other.text.toString()).toContain(text)
      await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()])
      const madeNow = async () => {
        await later(3000)
        await settled()
        return (await history()).length
      }
      await expect.poll(madeNow).toBe(snapshots)
      server.clock.advance(3_600_000)
    }
    const bytesOf = async (path: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await server.request(home, `/api/files/${path}`, { headers })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-crdt'])
      return docOf([new Uint8Array(await answer.arrayBuffer())])
        .getText('text')
        .toString()
    }
    await write('one', 1)
    await write(' two', 2)
    const made = await history()
    expect(made.map(({ writers }) => writers)).toEqual([[home], [home]])
    const first = made[1]?.seq ?? 0
    expect(await bytesOf(`${fileId}/history/${first}`)).toBe('one')
    expect(await bytesOf(fileId)).toBe('one two')
    await using open = await stock(fileId, token)
    await client.call(restoreFileSnapshot, { params: { fileId, seq: first } })
    await expect.poll(() => open.text.toString()).toBe('one')
    expect(await bytesOf(fileId)).toBe('one')
    const { data: copy } = await client.call(duplicateFile, { params, body: {} })
    await using copied = await stock(copy.fileId, token)
    expect(copied.text.toString()).toBe('one')
  })
})
