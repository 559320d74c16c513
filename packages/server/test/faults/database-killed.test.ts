import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { DatabaseDevice } from '#harness/database-client.ts'
import { runsOf } from '#harness/property-runs.ts'
import { ServerProcess } from '#harness/server-process.ts'
import { SocketClient } from '#harness/socket-client.ts'

const idTag = 'alice.localhost'
const writers = 4
const kills = runsOf(4)

let folder: string | undefined
let server: ServerProcess | undefined

async function connect(at: ServerProcess, fileId: string): Promise<DatabaseDevice> {
  const { authorization } = await at.signIn()
  const path = `/ws/rtdb/${encodeURIComponent(fileId)}?token=${authorization.replace('Bearer ', '')}`
  return new DatabaseDevice(await SocketClient.connect(at.port, idTag, path))
}

interface Sent {
  readonly txId: string
  readonly n: number
  isAcknowledged: boolean
}

describe('a database whose server is killed', () => {
  afterEach(async () => {
    await server?.kill()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  test(
    'no acknowledged transaction is lost by kill -9, and one that is sent again is done once',
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'kith-database-killed-'))
      server = await ServerProcess.start({ idTag, dataDir: folder })
      const headers = { ...(await server.signIn()), 'content-type': 'application/json' }
      const body = JSON.stringify({ fileTp: 'RTDB' })
      const made = await server.request('/api/files', { method: 'POST', headers, body })
      const { fileId } = ((await made.json()) as { data: { fileId: string } }).data
      const sent: Sent[] = []
      const send = (device: DatabaseDevice, { txId, n }: Sent) =>
        device.ask('transaction', { txId, operations: [{ type: 'create', path: 'posts', data: { n } }] })

      for (let kill = 1; kill <= kills; kill += 1) {
        const running = server
        const devices = await Promise.all(Array.from({ length: writers }, () => connect(running, fileId)))
        const deadAt = sent.length + 60 + kill
        await Promise.allSettled(
          devices.map(async (device) => {
            while (device.client.socket.readyState === device.client.socket.OPEN) {
              const each: Sent = { txId: randomUUID(), n: sent.length, isAcknowledged: false }
              sent.push(each)
              expect((await send(device, each)).type).toBe('transactionResult')
              each.isAcknowledged = true
              if (sent.length >= deadAt) void running.kill()
            }
          }),
        )
        await running.kill()
        server = await ServerProcess.start(running.place)
      }

      await using device = await connect(server, fileId)
      const stored = async (): Promise<number[]> =>
        (await device.ask('query', { path: 'posts' })).data.map(({ n }: { n: number }) => n)
      const after = new Set(await stored())
      expect(sent.filter(({ isAcknowledged, n }) => isAcknowledged && !after.has(n))).toEqual([])
      expect(sent.filter(({ isAcknowledged }) => isAcknowledged).length).toBeGreaterThan(kills * 50)
      for (const each of sent) expect((await send(device, each)).type).toBe('transactionResult')
      const numbers = (await stored()).toSorted((a, b) => a - b)
      expect(numbers).toEqual(sent.map(({ n }) => n))
    },
    60_000 + kills * 20_000,
  )
})
