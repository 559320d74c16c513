import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { ProgramProcess } from '#harness/program-process.ts'
import { askSecret } from './ask-secret.ts'
import { UsageError } from './command.ts'

const request = localFetch()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-serve-'))
})
afterAll(() => rm(folder, { recursive: true }))

const envOf = (name: string, more: Record<string, string> = {}) => ({
  DATA_DIR: join(folder, name),
  LISTEN: '127.0.0.1:0',
  LOG_LEVEL: 'info',
  ...more,
})

async function readOne(dataDir: string, sql: string) {
  using database = new DatabaseSync(join(dataDir, 'kith.db'), { readOnly: true })
  return database.prepare(sql).get() ?? {}
}

describe('serve', () => {
  test('prints one line when it is ready, answers, and ends with 0 when it is told to', async () => {
    await using server = new ProgramProcess(['serve'], envOf('one'))
    const ready = JSON.parse(await server.firstLine())
    const port = Number(new URL(ready.url).port)
    expect(ready).toEqual({
      event: 'ready',
      url: `http://127.0.0.1:${port}`,
      baseIdTag: 'home.localhost',
      address: `http://home.localhost:${port}`,
    })
    const linkFile = join(folder, 'one', 'setup-link')
    const link = await readFile(linkFile, 'utf8')
    expect(link).toMatch(new RegExp(`^http://home\\.localhost:${port}/set-password#token=\\w{24}\n$`))
    expect((await stat(linkFile)).mode & 0o777).toBe(0o600)
    expect((await request(`${ready.url}/healthz`)).status).toBe(200)

    server.signal('SIGTERM')
    const { exitCode, out, err } = await server.end()
    expect(exitCode).toBe(0)
    expect(out.trim().split('\n')).toHaveLength(1)
    // The log is one object a line. What a service manager keeps of both streams has no secret in it.
    const logged = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(logged.at(-1)).toMatchObject({ level: 'info', msg: 'stopped' })
    expect(logged.map(({ file }) => file)).toContain(linkFile)
    expect(out + err).not.toContain(link.trim().split('#token=')[1])
  })

  test('is stopped by an interrupt as well, with a password no link is made', async () => {
    const given = envOf('two', { BASE_PASSWORD: 'secret-password' })
    await using server = new ProgramProcess(['serve'], given)
    const { host, port } = new URL(JSON.parse(await server.firstLine()).url)
    const env = { ...given, LISTEN: host }
    expect(await readdir(env.DATA_DIR)).not.toContain('setup-link')

    // A server that finds the port taken says so in a line, and leaves the other alone.
    await using late = await CommandLine.open({ LISTEN: env.LISTEN })
    const said = await late.run(['serve'])
    expect(said).toMatchObject({ exitCode: 1, out: '' })
    expect(said.err).toMatch(new RegExp(`^.*EADDRINUSE.*127\\.0\\.0\\.1:${port}\\n.*LISTEN.*\\n$`))
    // Nothing of the identity is fixed yet.
    expect(await readdir(late.folder)).toEqual([])

    const account = await readOne(env.DATA_DIR, 'select password_hash from accounts')
    expect(account.password_hash).toContain('$m=19456,t=2,p=1$')

    // A restore would take the database away from under it.
    const archive = join(folder, 'two.tar')
    await using line = await CommandLine.open(env)
    await line.json('backup', '--to', archive, '--with-master-key')
    expect(await line.run(['restore', archive, '--force'])).toMatchObject({
      exitCode: 1,
      err: 'The database is in use: stop the server first.\n',
    })
    expect((await request(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)

    server.signal('SIGINT')
    const { exitCode, err } = await server.end()
    expect(exitCode).toBe(0)
    expect(err).not.toContain('secret-password')
    expect((await stat(join(env.DATA_DIR, 'kith.db-ballast'))).size).toBeGreaterThan(1024 ** 2)
  })

  test('says to a person at a terminal where it is, and what to do next', async () => {
    const terminal = 'process.stdout.isTTY = true'
    const env = envOf('person', {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(terminal)}`,
    })
    await using server = new ProgramProcess(['serve'], env)
    await server.firstLine()
    server.signal('SIGTERM')
    const { out } = await server.end()
    const link = await readFile(join(env.DATA_DIR, 'setup-link'), 'utf8')
    expect(out).toMatch(/^\n {2}Kith answers at http:\/\/home\.localhost:\d+ for home\.localhost/)
    expect(out).toContain(`Set the password of home.localhost here, once: ${link.trim()}\n`)
    const { port } = new URL(link)
    expect(out).toContain(`ssh -L ${port}:127.0.0.1:${port} THIS_MACHINE`)
    expect(out).not.toContain('{')
  })

  test('has its DATA_DIR for itself until it ends by an error that nobody caught, which the log says', async () => {
    const bug = "process.once('SIGINT', () => { throw new Error('a bug') })"
    const env = envOf('alone', { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}` })
    await using server = new ProgramProcess(['serve'], env)
    await server.firstLine()
    // A command beside it, and a look at who it is, take nothing from it.
    await using beside = await CommandLine.open(env)
    await beside.json('tenant', 'list')
    await using second = new ProgramProcess(['serve'], env)
    expect(await second.end()).toMatchObject({
      exitCode: 1,
      out: '',
      err: expect.stringMatching(
        /DATA_DIR .*alone is in use by process \d+ on \S+, which started at 2\d{3}-\S+ and answers at http:\/\/127\.0\.0\.1:\d+\. Stop it first/,
      ),
    })
    server.signal('SIGINT')
    const { exitCode, err } = await server.end()
    expect(exitCode).toBe(1)
    const line = err.split('\n').find((each) => each.includes('"fatal"')) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({
      level: 'fatal',
      err: { message: 'a bug' },
      origin: 'uncaughtException',
    })
  })

  test('starts where another was cut off, and ends at once when it is told twice, with a request under way', async () => {
    await using server = new ProgramProcess(['serve'], envOf('alone'))
    const { url } = JSON.parse(await server.firstLine())
    const { promise: isSent, resolve } = Promise.withResolvers<void>()
    // An upload that never comes to its end.
    const parts = [new Uint8Array(1000)]
    const endless = new ReadableStream({
      pull(controller) {
        const part = parts.pop()
        if (part) return controller.enqueue(part)
        resolve()
        return new Promise(() => undefined)
      },
    })
    const init = { method: 'POST', body: endless, duplex: 'half' } as RequestInit
    const upload = request(`${url}/api/auth/login`, init).catch((error: unknown) => error)
    await isSent
    // It comes behind the upload.
    expect((await request(`${url}/healthz`)).status).toBe(200)
    // Two of one kind may arrive as one.
    server.signal('SIGTERM')
    server.signal('SIGINT')
    expect(await server.end()).toMatchObject({ exitCode: 1 })
    await upload
  })

  test('ends with 1 and every problem of a wrong environment, before it makes anything', async () => {
    await using line = await CommandLine.open({ LISTEN: '8080', PUBLIC_URL: 'home' })
    const { exitCode, out, err } = await line.run(['serve'])
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toMatch(
      /^The configuration is wrong:\n {2}LISTEN .*\n {2}PUBLIC_URL .*\nEvery variable .*\n$/,
    )
    expect(await readdir(line.folder)).toEqual([])
  })
})

describe('a command in a process of its own', () => {
  test('takes a password from standard input and ends with its code', async () => {
    await using line = await CommandLine.open()
    await line.json('tenant', 'create', 'alice.localhost')
    const { env } = line
    await using change = new ProgramProcess(['tenant', 'password', 'alice.localhost', '--stdin'], env)
    change.type('a word from a pipe\n')
    expect(await change.end()).toEqual({
      exitCode: 0,
      out: 'alice.localhost has a new password. Sessions, API keys and passkeys have ended.\n',
      err: '',
    })
    await expect(askSecret('Password: ', Readable.from([]))).rejects.toThrow(UsageError)
  })

  test('that nobody listens to any more ends well', async () => {
    await using help = new ProgramProcess(['help'], envOf('six'))
    help.hangUp()
    expect(await help.end()).toMatchObject({ exitCode: 0, err: '' })
  })
})
