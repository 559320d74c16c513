import { createFile, getAccessToken } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DatabaseDevice } from '#harness/database-client.ts'
import { TestServer } from '#harness/test-server.ts'
import type { TenantId } from '#infra/db/index.ts'
import { longRequestLimits } from '../../src/features/databases/socket/long-requests.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

async function database(idTag: string) {
  const { tenantId } = await server.createTenant(idTag)
  const client = await server.as(idTag)
  const { data } = await client.call(createFile, { body: { fileTp: 'RTDB', visibility: 'F' } })
  const { token } = (await client.call(getAccessToken, {})).data
  const place = { idTag, fileId: data.fileId }
  return { tenantId, connect: () => DatabaseDevice.connect(server, place, token) }
}

const long = { operations: [{ type: 'replace', path: 'a/b', data: { x: 'x'.repeat(70_000) } }] }

/** Keeps everybody from writing at a tenant, until it is ended. */
async function holdWrites(tenantId: TenantId) {
  const held = Promise.withResolvers<void>()
  const holding = Promise.withResolvers<void>()
  const transaction = server.db.transact(tenantId, async () => {
    holding.resolve()
    await held.promise
  })
  await holding.promise
  return async () => {
    held.resolve()
    await transaction
  }
}

test('long transactions of a tenant wait for one another, and one too many ends its socket', async () => {
  const { tenantId, connect } = await database('many.localhost')
  const { waitingPerKey } = longRequestLimits
  const devices = await Promise.all(Array.from({ length: waitingPerKey + 2 }, connect))
  const end = await holdWrites(tenantId)
  const answers = devices.map((device) => device.ask('transaction', long).catch(() => undefined))
  const first = await Promise.race(devices.map(async ({ client }, at) => ({ ...(await client.closed), at })))
  expect(first).toMatchObject({ code: 1013 })
  const others = devices.filter((_, at) => at !== first.at)
  // Requests that are not long have nothing to wait for.
  const other = await connect()
  const { data } = await other.ask('get', { path: 'a/b' })
  expect(data).toBeNull()
  await end()
  const done = await Promise.all(answers.filter((_, at) => at !== first.at))
  expect(done.map(({ type }) => type)).toEqual(others.map(() => 'transactionResult'))
  for (const { client } of [...devices, other]) await client[Symbol.asyncDispose]()
})
