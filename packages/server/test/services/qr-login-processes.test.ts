import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@kith/client'
import { answerQrLogin, getQrLoginStatus, initQrLogin, login } from '@kith/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { ProgramProcess } from '#harness/program-process.ts'
import { testPassword } from '#harness/test-server.ts'

const idTag = 'home.localhost'
const masterKey = Buffer.alloc(32, 3).toString('base64')

/** A process of a server, with a DATA_DIR of its own. */
async function startProcess(databaseUrl: string): Promise<(token?: string) => Client> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kith-processes-'))
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey,
    LISTEN: '127.0.0.1:0',
    BASE_PASSWORD: testPassword,
    LOG_LEVEL: 'error',
  }
  const program = new ProgramProcess(['serve'], env)
  onTestFinished(async () => {
    await program[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true, force: true })
  })
  const { port } = new URL((JSON.parse(await program.firstLine()) as { url: string }).url)
  const fetch = localFetch()
  return (token) =>
    createClient({ baseUrl: `http://${idTag}:${port}`, fetch, ...(token === undefined ? {} : { token }) })
}

onPostgresServer('two processes on one database', (open) => {
  test('a device that waits at one process is signed in through another', async () => {
    const { url } = await open.place()
    const here = await startProcess(url)
    const there = await startProcess(url)

    const { sessionId, secret } = (await here().call(initQrLogin)).data
    const waiting = here().call(getQrLoginStatus, {
      params: { sessionId },
      query: { timeout: 30 },
      headers: { 'x-qr-secret': secret },
    })
    const { token } = (await there().call(login, { body: { idTag, password: testPassword } })).data
    await there(token).call(answerQrLogin, { params: { sessionId }, body: { approved: true } })
    const { data } = await waiting
    expect(data).toMatchObject({ status: 'approved', login: { idTag } })
  })
})
