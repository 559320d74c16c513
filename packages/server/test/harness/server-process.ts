import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { roomyStart } from './compile-cache.ts'
import type { CuttableLink } from './cuttable-link.ts'
import { localFetch } from './local-fetch.ts'
import { testPassword } from './test-server.ts'

const program = fileURLToPath(new URL('../../bin/kith.js', import.meta.url))
const request = localFetch()

export interface ServerPlace {
  readonly idTag: string
  readonly dataDir: string
  /** `idTag=serverUrl` pairs of the other servers. */
  readonly peers?: string
  /** The way to it, for who is to find it again under the same address. */
  readonly link?: CuttableLink
  readonly env?: Readonly<Record<string, string>>
  /** A file that takes its log; else that goes where the test's own goes. */
  readonly log?: number
}

/** The program as its user runs it, in a process that a test may kill. */
export class ServerProcess implements AsyncDisposable {
  /** Where it is reached: at its link, if it has one. */
  readonly port: number
  readonly place: ServerPlace
  readonly #child: ChildProcess

  private constructor(place: ServerPlace, port: number, child: ChildProcess) {
    this.place = place
    this.port = port
    this.#child = child
  }

  static async start(place: ServerPlace): Promise<ServerProcess> {
    const { idTag, dataDir, peers = '', link, env, log = 'inherit' } = place
    const child = spawn(process.execPath, [...roomyStart, program, 'serve'], {
      env: {
        BASE_ID_TAG: idTag,
        BASE_PASSWORD: testPassword,
        LISTEN: '127.0.0.1:0',
        ...(link && { PUBLIC_URL: `http://{idTag}:${link.port}` }),
        DATA_DIR: dataDir,
        IDENTITY_HOSTS: peers,
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: ['ignore', 'pipe', log],
    })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server of ${idTag} ended with ${code} before it was ready`)
    })
    const ready = once(createInterface({ input: child.stdout as Readable }), 'line') as Promise<[string]>
    const [line] = await Promise.race([ready, ended])
    const port = Number(new URL(JSON.parse(line).url).port)
    link?.leadTo(port)
    child.once('exit', () => link?.leadTo(undefined))
    return new ServerProcess(place, link?.port ?? port, child)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get url(): string {
    return `http://${this.place.idTag}:${this.port}`
  }

  request(path: string, init?: RequestInit): Promise<Response> {
    return request(`${this.url}${path}`, init)
  }

  /** The bearer header of a fresh session of the base tenant. */
  async signIn(): Promise<{ authorization: string }> {
    const response = await this.request('/api/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ idTag: this.place.idTag, password: testPassword }),
    })
    const { data } = (await response.json()) as { data: { token: string } }
    return { authorization: `Bearer ${data.token}` }
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill(signal)
      await once(this.#child, 'exit')
    }
    return this.#child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
