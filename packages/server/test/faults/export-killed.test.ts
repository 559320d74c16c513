import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ServerPlace, ServerProcess } from '#harness/server-process.ts'

const idTag = 'home.localhost'
const bytes = 32 * 1024 * 1024

/** A process that sends an account to somebody who has read its first piece. */
async function startSending(place: ServerPlace) {
  const server = await ServerProcess.start(place)
  const headers = await server.signIn()
  const uploaded = await server.request('/api/files/raw/noise.bin', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  })
  expect(uploaded.status).toBe(201)
  const asked = await server.request('/api/export', { method: 'POST', headers })
  const { ticket } = ((await asked.json()) as { data: { ticket: string } }).data
  const answer = await server.request(`/api/export/archive?ticket=${ticket}`)
  expect(answer.status).toBe(200)
  const reader = answer.body?.getReader()
  await reader?.read()
  const readOn = async () => {
    while (reader && !(await reader.read()).done);
  }
  return { server, readOn }
}

async function told(server: ServerProcess): Promise<{ status: string; reason?: string }> {
  const answer = await server.request('/api/export', { headers: await server.signIn() })
  return ((await answer.json()) as { data: { status: string } }).data
}

let folder: string
let place: ServerPlace
let exportsDir: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-export-'))
  const dataDir = join(folder, 'data')
  exportsDir = join(dataDir, 'exports')
  place = { idTag, dataDir }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('a process that is killed while it sends an account leaves nothing of it, and the archive has no end', async () => {
  const { server, readOn } = await startSending(place)
  await server.kill()
  await expect(readOn()).rejects.toThrow()
  expect(await readdir(exportsDir)).toEqual([])
  await using again = await ServerProcess.start(place)
  expect(await readdir(exportsDir)).toEqual([])
  expect(['running', 'broken']).toContain((await told(again)).status)
})

test('a process that is stopped while it sends an account says so, and not that the reader went', async () => {
  const { server, readOn } = await startSending(place)
  await server.kill('SIGTERM')
  await expect(readOn()).rejects.toThrow()
  await using again = await ServerProcess.start(place)
  expect(await told(again)).toMatchObject({ status: 'broken', reason: 'stopped' })
})
