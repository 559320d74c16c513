import { createFile, createShare, getProxyToken, putSetting } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { makeDocument, RawDocumentClient, StockClient, stockVersions } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const visitorTag = 'visitor.localhost'
const fullTag = 'full.localhost'
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(visitorTag)
  await server.createTenant(fullTag)
  const body = { value: 0.0001 }
  await (await server.as(home)).call(putSetting, { params: { name: 'limits.max_storage_gb' }, body } as never)
})
afterAll(() => server.stop())

async function visitorToken(): Promise<string> {
  const { data } = await (await server.as(visitorTag)).call(getProxyToken, { query: { target: home } })
  return data.token
}

/** How a client comes to be refused. */
const refusals: Readonly<
  Record<number, () => Promise<{ host?: string; fileId: string } & Parameters<typeof StockClient.open>[2]>>
> = {
  1008: async () => ({ ...(await makeDocument(server, home)), token: 'nonsense' }),
  4403: async () => {
    const { fileId, token } = await makeDocument(server, home)
    const body = { subjectType: 'U', subjectId: visitorTag, permission: 'R' } as const
    await server.client(home, token).call(createShare, { params: { fileId }, body })
    return { fileId, token: await visitorToken(), params: { access: 'write' } }
  },
  4404: async () => ({ ...(await makeDocument(server, home)), token: await visitorToken() }),
  4409: async () => {
    const client = await server.as(home)
    const { data } = await client.call(createFile, { body: { fileTp: 'RTDB' } })
    return { fileId: data.fileId, token: await server.signIn(home) }
  },
  4413: async () => {
    const doc = new Y.Doc()
    doc.getText('text').insert(0, 'x'.repeat(200_000))
    return { ...(await makeDocument(server, fullTag)), host: fullTag, doc }
  },
}

describe.each(stockVersions)('the stock client of version %s', (version) => {
  test.each(Object.keys(refusals).map(Number))(
    'that is refused with %i connects once a second at most',
    async (code) => {
      const refused = await refusals[code]?.()
      if (!refused) throw new Error('no such refusal')
      const { host = home, fileId, ...options } = refused
      await using witness = await witnessOf()
      await using client = StockClient.open({ port: server.port, host }, fileId, {
        ...options,
        ...{ version, maxBackoffTime: 10 },
      })
      let upgrades = 0
      const codes: (number | undefined)[] = []
      client.provider.on('status', ({ status }) => {
        if (status === 'connected') upgrades += 1
      })
      client.provider.on('connection-close', (event) => codes.push(event?.code))
      const stopsAt = version === '3.1' && code >= 4400 ? 1 : 5
      for (let second = 1; second <= stopsAt; second += 1) {
        await expect.poll(() => upgrades).toBe(second)
        for (let turn = 0; turn < 5; turn += 1) await witness.caughtUp()
        expect(codes).toHaveLength(second - 1)
        server.clock.advance(1000)
        await expect.poll(() => codes).toEqual(Array.from({ length: second }, () => code))
      }
      expect(client.provider.shouldConnect).toBe(stopsAt === 5)
    },
  )
})

/** A client with which the server speaks meanwhile. */
async function witnessOf(): Promise<RawDocumentClient> {
  const { fileId, token } = await makeDocument(server, home)
  return await RawDocumentClient.open(server, home, fileId, `?token=${token}`)
}
