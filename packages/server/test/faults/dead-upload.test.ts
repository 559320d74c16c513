import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ClockedProcess } from '#harness/clocked-process.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'

const baseIdTag = 'home.localhost'
const fetchLocal = localFetch()

describe('an upload whose process was killed', () => {
  test('what an upload had set aside is free within a minute after its process was killed', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'kith-dead-upload-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    const nowMs = Date.now()
    const place = { baseIdTag, dataDir: dir, linkPort: 1, identityHosts: {} }
    const first = await ClockedProcess.start({ ...place, nowMs })
    onTestFinished(() => first.kill())
    const remains = async () => {
      using db = new DatabaseSync(join(dir, 'kith.db'), { readOnly: true })
      const { rows } = db.prepare('select count(*) as rows from storage_reservations').get() ?? {}
      return { reservations: rows, staged: (await readdir(join(dir, 'blobs/staging'))).length }
    }
    const url = `http://${baseIdTag}:${first.port}`
    const login = await fetchLocal(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ idTag: baseIdTag, password: testPassword }),
    })
    const { data } = (await login.json()) as { data: { token: string } }
    const body = new ReadableStream<Uint8Array>({ start: (sink) => sink.enqueue(Buffer.alloc(100_000)) })
    const upload = fetchLocal(`${url}/api/files/raw/a`, {
      method: 'POST',
      headers: { authorization: `Bearer ${data.token}`, 'content-type': 'application/octet-stream' },
      body,
      duplex: 'half',
    } as RequestInit).catch(() => undefined)
    // It is the other process that notices the bytes.
    while ((await remains()).staged === 0) await pause(5)
    expect(await remains()).toEqual({ reservations: 1, staged: 1 })
    await first.kill()
    await upload

    const clock = new TestClock(nowMs + 5_000)
    await using second = await TestServer.start({ baseIdTag, dataDir: dir, clock })
    for (let seconds = 5; seconds < 60; seconds += 11) {
      clock.advance(11_000)
      await second.settle()
    }
    expect(await remains()).toEqual({ reservations: 0, staged: 0 })
  })
})
