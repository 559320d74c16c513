import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAction, getAction, uploadFile } from '@kith/protocol'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'

onPostgresServer('a backup of PostgreSQL', (_open, serverUrl) => {
  const onServer = async (command: string) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(command).finally(() => client.end())
  }

  /** A machine with an empty database of its own. */
  async function machine(): Promise<CommandLine> {
    const name = `backup_${randomBytes(6).toString('hex')}`
    await onServer(`create database ${name}`)
    const url = new URL(serverUrl)
    url.pathname = name
    const line = await CommandLine.open({ DATABASE_URL: url.href })
    onTestFinished(async () => {
      await line[Symbol.asyncDispose]()
      await onServer(`drop database ${name} with (force)`)
    })
    return line
  }

  test('is restored to another server, but not with another key, nor over something', async () => {
    const [here, there] = [await machine(), await machine()]
    const archive = join(here.folder, 'backup.tar')
    const server = await TestServer.start({ dataDir: here.dataDir, env: { ...here.env } })
    const client = await server.as(baseTag)
    const { data: file } = await client.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'note.txt' },
      body: new Blob(['some bytes'], { type: 'text/plain' }),
    })
    const { data: post } = await client.call(createAction, {
      body: { type: 'POST', content: { text: 'kept' }, attachments: [file.fileId] },
    })
    await here.json('backup', '--to', archive, '--with-master-key')
    await server.stop()
    expect((await here.run(['restore', archive])).exitCode).toBe(1)

    await mkdir(there.dataDir, { mode: 0o700 })
    const other = join(there.dataDir, 'other.key')
    await writeFile(other, Buffer.alloc(32, 5).toString('base64'), { mode: 0o600 })
    const refused = await there.with({ MASTER_KEY_FILE: other }).run(['restore', archive, '--force'])
    expect(refused).toMatchObject({
      exitCode: 1,
      err: 'This backup cannot be used: it was written with another master key.\n',
    })
    expect((await there.run(['tenant', 'list'])).err).toContain('There is no server in')

    expect(await there.json('restore', archive, '--force')).toMatchObject({ restored: true, tenants: 1 })
    expect((await there.json('blobs', 'verify', '--deep')).found).toEqual({
      missing: 0,
      damaged: 0,
      orphaned: 0,
      unreadable: 0,
    })
    await using restored = await TestServer.start({ dataDir: there.dataDir, env: { ...there.env } })
    const reader = await restored.as(baseTag)
    const { data } = await reader.call(getAction, { params: { actionId: post.actionId } })
    expect(data.content).toEqual({ text: 'kept' })
  })
})
