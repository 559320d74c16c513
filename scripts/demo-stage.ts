/** What the demos have in common: servers in temporary directories, and requests that are printed with their time. */
import { ok, strictEqual } from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Agent, fetch } from 'undici'
import type { CuttableLink } from '../packages/server/test/harness/cuttable-link.ts'
import { pollMs } from '../packages/server/test/harness/patience.ts'

/** The top folder of the project. */
export const root = new URL('..', import.meta.url)
/** The command line: a program and its first words. `KITH_PROGRAM` names that of a release. */
export const kith: readonly [string, ...string[]] = process.env.KITH_PROGRAM
  ? [process.env.KITH_PROGRAM]
  : [process.execPath, new URL('packages/server/bin/kith.js', root).pathname]
/** Of the owner of a server. */
export const password = 'a password for the demo'

/** A server in a process of its own. */
export interface Server {
  readonly idTag: string
  readonly url: string
  readonly dataDir: string
  readonly process: ChildProcess
}

/** A server whose owner is signed in. */
export interface Owned extends Server {
  readonly token: string
}

interface Place {
  readonly idTag: string
  /** The way to it, when others are to know its address before it starts. */
  readonly link?: CuttableLink
  /** `idTag=serverUrl` pairs of the other servers. */
  readonly peers?: string
  /** Further variables of the environment. */
  readonly env?: Readonly<Record<string, string>>
}

// Names under .localhost are this machine (RFC 6761), though not every resolver knows.
const agent = new Agent({
  connect: {
    lookup: (_, options, done) =>
      options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
  },
})

/** One request, on this machine whatever its host. */
export async function request(
  method: string,
  url: string,
  options: {
    token?: string
    json?: object
    bytes?: Uint8Array
    headers?: Readonly<Record<string, string>>
  } = {},
) {
  const { token, json, bytes, headers } = options
  const startedAt = performance.now()
  const response = await fetch(url, {
    method,
    dispatcher: agent,
    headers: {
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json ? { 'content-type': 'application/json' } : {}),
      ...(bytes ? { 'content-type': 'image/jpeg' } : {}),
    },
    ...(json ? { body: JSON.stringify(json) } : bytes ? { body: bytes } : {}),
  })
  const body = new Uint8Array(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const document = isJson ? JSON.parse(new TextDecoder().decode(body)) : {}
  const tookMs = performance.now() - startedAt
  const data = document.data ?? document
  return { status: response.status, headers: response.headers, data, bytes: body, tookMs }
}

/** One request, printed with its time; anything but success ends the demo. */
export async function step(
  title: string,
  method: string,
  url: string,
  options: Parameters<typeof request>[2] = {},
) {
  const answer = await request(method, url, options)
  say(title, `${method} ${url.replace(/token=[^&]*/, 'token=…')}`, answer.status, answer.tookMs)
  ok(answer.status < 300, `${title}: ${JSON.stringify(answer.data)}`)
  return answer
}

/** Prints what was done and what came of it. */
export function say(title: string, what: string, status: number, tookMs: number): void {
  console.log(`${title}\n    ${what}\n    ${status} in ${tookMs.toFixed(1)} ms`)
}

/** Asks again until the answer is as it should be; the last answer and the whole time are printed. */
export async function eventually(
  title: string,
  url: string,
  token: string,
  isThere: (data: Awaited<ReturnType<typeof request>>['data']) => boolean,
) {
  const startedAt = performance.now()
  for (;;) {
    const answer = await request('GET', url, { token })
    const tookMs = performance.now() - startedAt
    if (answer.status === 200 && isThere(answer.data)) {
      say(title, `GET ${url}`, answer.status, tookMs)
      return answer
    }
    ok(
      tookMs < pollMs,
      `${title}: not within ${pollMs} ms, last ${answer.status} ${JSON.stringify(answer.data)}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Asks until something is so; the time is printed. */
export async function until(title: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now()
  while (!(await isSo())) {
    ok(performance.now() - startedAt < pollMs, title)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  console.log(`${title}\n    after ${(performance.now() - startedAt).toFixed(0)} ms`)
}

async function start(folder: string, { idTag, link, peers = '', env = {} }: Place): Promise<Server> {
  const startedAt = performance.now()
  const dataDir = join(folder, idTag)
  const [program, ...words] = kith
  const child = spawn(program, [...words, 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      BASE_ID_TAG: idTag,
      BASE_PASSWORD: password,
      LISTEN: '127.0.0.1:0',
      ...(link && { PUBLIC_URL: `http://{idTag}:${link.port}` }),
      DATA_DIR: dataDir,
      IDENTITY_HOSTS: peers,
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`the server of ${idTag} did not start`))),
  ])) as [string]
  const ready = JSON.parse(line)
  strictEqual(ready.event, 'ready')
  link?.leadTo(Number(new URL(ready.url).port))
  child.once('exit', () => link?.leadTo(undefined))
  const url = ready.address
  console.log(
    `A server for ${idTag}\n    ${url}\n    ready in ${(performance.now() - startedAt).toFixed(0)} ms`,
  )
  return { idTag, url, dataDir, process: child }
}

export async function signIn({ idTag, url }: Server): Promise<string> {
  const { data } = await step(`${idTag} signs in`, 'POST', `${url}/api/auth/login`, {
    json: { idTag, password },
  })
  return String(data.token)
}

/** Stops a server, unless it was stopped before. */
export async function stop(server: Server): Promise<void> {
  const { process } = server
  if (process.exitCode === null) {
    process.kill('SIGTERM')
    await once(process, 'exit')
  }
  strictEqual(process.exitCode, 0, `the server of ${server.idTag} stops cleanly`)
}

/** Starts a server that ends with the demo. */
export type Start = (place: Place) => Promise<Server>

/** Runs a demo in a temporary directory. The exit code is 0 only if every step held and every server stopped cleanly. */
export async function perform(tell: (start: Start) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-demo-'))
  const servers: Server[] = []
  try {
    await tell(async (place) => {
      const server = await start(folder, place)
      servers.push(server)
      return server
    })
    await Promise.all(servers.splice(0).map(stop))
    console.log('\nEvery step held.')
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  } finally {
    for (const server of servers) server.process.kill('SIGKILL')
    await agent.close()
    await rm(folder, { recursive: true, force: true })
  }
}
