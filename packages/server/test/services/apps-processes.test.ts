import { randomBytes } from 'node:crypto'
import { installApp, uninstallApp } from '@kith/protocol'
import { expect, test } from 'vitest'
import { offerApp } from '#harness/app-package.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { twoOnOneBucket } from './two-processes.ts'

const home = 'home.localhost'

onPostgresServer('processes on one database and one bucket', (open) => {
  test('serve what another of them has installed, and no more what it has uninstalled', async () => {
    const { first: here, second: there, bucket } = await twoOnOneBucket(open)

    const owner = await here.as(home)
    const noise = randomBytes(300_000)
    const { actionId, fileId } = await offerApp(owner, { entries: [{ path: 'noise', bytes: noise }] })
    const ask = (path: string) => there.request(home, `/api/files/${fileId}/content/${path}`)
    expect((await ask('noise')).status).toBe(404)
    await owner.call(installApp, { body: { actionId } })
    for (const server of [here, there]) await server.settle()
    bucket.requests.length = 0
    expect(Buffer.from(await (await ask('noise')).arrayBuffer())).toEqual(noise)
    // The index is known, so that a file costs one request to the bucket.
    expect(bucket.requests.map(({ method, key, range }) => [method, key, range])).toHaveLength(1)
    await owner.call(uninstallApp, { params: { publisher: home as never, name: 'Notes' } })
    expect((await ask('noise')).status).toBe(404)
  })
})
