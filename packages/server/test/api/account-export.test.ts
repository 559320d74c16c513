import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createAction,
  createApiKey,
  getAccessToken,
  getAccountExport,
  getAuditLog,
  getProxyToken,
  listActions,
  logout,
  putSetting,
  startAccountExport,
  uploadFile,
} from '@kith/protocol'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { archivePath, beginReading, failure, keepBytes, statusOf, ticketOf } from '#harness/account-export.ts'
import { collectGarbage } from '#harness/collect-garbage.ts'
import { CommandLine } from '#harness/command-line.ts'
import { TestServer } from '#harness/test-server.ts'
import { freeBytesOf } from '#infra/disk/index.ts'

const home = 'home.localhost'
describe('the export of an account', () => {
  let server: TestServer
  const person = async (name: string) => {
    await server.createTenant(`${name}.localhost`, { email: `${name}@example.com` })
    return { idTag: `${name}.localhost`, client: await server.as(`${name}.localhost`) }
  }
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server?.stop())

  test('is for the owner in person alone, lately signed in', async () => {
    const { idTag, client } = await person('alice')
    const key = (await client.call(createApiKey, { body: { name: 'wide' } })).data.key
    const narrow = (await client.call(getAccessToken, { query: { scope: 'admin' } })).data.token
    const club = 'club.localhost'
    await server.createTenant(club, { type: 'community' })
    await server.relate(club, idTag, { role: 'leader', connection: 'connected' })
    const proxy = (await client.call(getProxyToken, { query: { target: club } })).data.token
    const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
    for (const contract of [getAccountExport, startAccountExport]) {
      expect(await failure(server.client(idTag).call(contract))).toMatchObject({ status: 401 })
      for (const token of [key, narrow])
        expect(await failure(server.client(idTag, token).call(contract))).toMatchObject(forbidden)
      expect(await failure(server.client(club, proxy).call(contract))).toMatchObject(forbidden)
    }
    const { token } = (await client.call(getAccessToken, {})).data
    await ticketOf(server.client(idTag, token))
    server.clock.advance(15 * 60_000 + 1_000)
    expect(await failure(client.call(startAccountExport))).toMatchObject({
      ...forbidden,
      reason: 'sign-in-again',
    })
    expect((await statusOf(client)).status).toBe('none')
  })

  test('is an archive that the command line of another server takes, without secrets', async () => {
    const { idTag, client } = await person('bea')
    const bytes = randomBytes(3_000_000)
    const params = { preset: 'default', fileName: 'noise.bin' } as const
    const { fileId } = (await client.upload(uploadFile, { params, body: new Blob([bytes]) })).data
    await client.call(createAction, {
      body: { type: 'POST', content: { text: 'moved' }, attachments: [fileId] },
    })
    await server.settle()
    const answer = await server.request(idTag, archivePath(await ticketOf(client)))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/x-tar',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="bea\.localhost-\d{4}-\d\d-\d\d\.tar"$/,
      ),
      'cache-control': 'no-store',
    })
    const archive = Buffer.from(await answer.arrayBuffer())
    await expect.poll(() => statusOf(client)).toMatchObject({ status: 'complete', sentBytes: archive.length })
    const { data: log } = await client.call(getAuditLog, { query: { limit: 1 } })
    expect(log).toMatchObject([{ event: 'account.exported', actorTag: idTag }])

    const entries = await unpackTar(archive)
    const account = entries.find(({ header }) => header.name === 'rows/accounts/000001.jsonl')
    expect(JSON.parse(Buffer.from(account?.data ?? []).toString())).toMatchObject({
      email: 'bea@example.com',
      password_hash: null,
      sw_key_sealed: { leftOut: true },
    })
    const about = entries.find(({ header }) => header.name === 'about.json')
    expect(JSON.parse(Buffer.from(about?.data ?? []).toString())).toMatchObject({ withKeys: false })

    await using there = await CommandLine.open()
    const file = join(there.folder, 'bea.tar')
    await writeFile(file, archive)
    const said = await there.run(['import', file])
    expect(said).toMatchObject({ exitCode: 0, err: '' })
    expect(said.out).toContain('kith tenant password bea.localhost')
    await using moved = await TestServer.start({ dataDir: there.dataDir })
    const again = await moved.as(idTag)
    const { data: posts } = await again.call(listActions, { query: { type: 'POST' } })
    expect(posts).toMatchObject([{ content: { text: 'moved' } }])
    const { token } = (await again.call(getAccessToken, {})).data
    const file2 = await moved.request(idTag, `/api/files/${fileId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(Buffer.from(await file2.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test('is opened by a ticket that is good once, for a minute, here, and while its session lives', async () => {
    const { idTag, client } = await person('cem')
    const other = await person('dora')
    const statusFor = async (who: string, ticket: string) => {
      const answer = await server.request(who, archivePath(ticket))
      await answer.arrayBuffer()
      return answer.status
    }
    const former = await ticketOf(client)
    const first = await ticketOf(client)
    expect(await statusFor(idTag, former)).toBe(404)
    expect(await statusFor(other.idTag, first)).toBe(404)
    expect(await statusFor(idTag, 'made-up')).toBe(404)
    const looked = await server.request(idTag, archivePath(first), { method: 'HEAD' })
    expect(looked.status).toBe(200)
    expect(await statusFor(idTag, first)).toBe(200)
    await expect.poll(async () => (await statusOf(client)).status).toBe('complete')
    expect(await statusFor(idTag, first)).toBe(404)
    const late = await ticketOf(client)
    server.clock.advance(60_000)
    expect(await statusFor(idTag, late)).toBe(404)
    const orphan = await ticketOf(client)
    await client.call(logout)
    expect(await statusFor(idTag, orphan)).toBe(404)
    expect(await failure(server.client(idTag).call(startAccountExport))).toMatchObject({ status: 401 })
  })

  test('goes one at a time, and frees the account when its reader leaves', async () => {
    const { idTag, client } = await person('eli')
    await keepBytes(server, idTag, 32)
    const reading = await beginReading(server, idTag, await ticketOf(client))
    expect((await statusOf(client)).status).toBe('running')
    expect(await failure(client.call(startAccountExport))).toMatchObject({ status: 409, code: 'E-STATE' })
    reading.leave()
    await expect.poll(() => statusOf(client)).toMatchObject({ status: 'broken', reason: 'reader-gone' })
    expect(await readdir(join(server.running.services.config.dataDir, 'exports'))).toEqual([])
    await ticketOf(client)
  })

  test('ends with its session, and when nobody reads it, without its end', async () => {
    const { idTag, client } = await person('fay')
    await keepBytes(server, idTag, 32)
    const other = await server.as(idTag)
    const left = await beginReading(server, idTag, await ticketOf(client))
    await client.call(logout)
    server.clock.advance(15_000)
    await expect.poll(() => statusOf(other)).toMatchObject({ status: 'broken', reason: 'signed-out' })
    await expect(left.readOn()).rejects.toThrow()
    const stalled = await beginReading(server, idTag, await ticketOf(other))
    await expect
      .poll(async () => {
        server.clock.advance(5_000)
        return await statusOf(other)
      })
      .toMatchObject({ status: 'broken', reason: 'reader-gone' })
    await expect(stalled.readOn()).rejects.toThrow()
  })

  test('is sent without being held in memory', async () => {
    const { idTag, client } = await person('gus')
    await keepBytes(server, idTag, 96)
    const answer = await server.request(idTag, archivePath(await ticketOf(client)))
    const held = () => process.memoryUsage().arrayBuffers
    const before = held()
    let [most, read, collectedAt] = [0, 0, 0]
    for await (const chunk of answer.body ?? []) {
      read += chunk.byteLength
      if (read - collectedAt < 8 * 1024 * 1024) continue
      // V8 collects pieces that were read when it sees fit, a busy machine later.
      collectGarbage()
      collectedAt = read
      most = Math.max(most, held() - before)
    }
    expect(read).toBeGreaterThan(96 * 1024 * 1024)
    expect(most).toBeLessThan(32 * 1024 * 1024)
  })

  test('goes six times a day', async () => {
    const { idTag, client } = await person('hal')
    for (let count = 0; count < 6; count += 1) {
      await (await server.request(idTag, archivePath(await ticketOf(client)))).arrayBuffer()
      await expect.poll(async () => (await statusOf(client)).status).toBe('complete')
    }
    expect(await failure(client.call(startAccountExport))).toMatchObject({ status: 429 })
    server.clock.advance(24 * 3_600_000)
    await ticketOf(await server.as(idTag))
  })

  test('says that the disk is full', async () => {
    const { idTag, client } = await person('ida')
    const admin = await server.as(home)
    const reserve = { params: { name: 'limits.disk_reserve_mb' }, query: {} }
    // Files may take nothing, and the database still writes.
    const freeBytes = await freeBytesOf(server.running.services.config.dataDir)
    await admin.call(putSetting, { ...reserve, body: { value: Math.ceil((2 * freeBytes) / 1024 ** 2) } })
    server.clock.advance(60_000)
    const answer = await server.request(idTag, archivePath(await ticketOf(client)))
    expect(answer.status).toBe(507)
    expect(await statusOf(client)).toMatchObject({ status: 'broken', reason: 'disk-full' })
    await admin.call(putSetting, { ...reserve, body: { value: 0 } })
  })
})
