import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { roomyStart } from './compile-cache.ts'
import { localFetch } from './local-fetch.ts'
import { testPassword } from './test-server.ts'

const program = fileURLToPath(new URL('../../bin/kith.js', import.meta.url))
const request = localFetch()

export interface ServerPlace {
  readonly idTag: string
  readonly port: number
  readonly dataDir: string
  /** `idTag=serverUrl` pairs of the other servers. */
  readonly peers: string
}

/** The program as its user runs it, in a process that a test may kill. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string
  readonly place: ServerPlace
  readonly #child: ChildProcess

  private constructor(place: ServerPlace, child: ChildProcess) {
    this.place = place
    this.url = `http://${place.idTag}:${place.port}`
    this.#child = child
  }

  static async start(place: ServerPlace): Promise<ServerProcess> {
    const { idTag, port, dataDir, peers } = place
    const child = spawn(process.execPath, [...roomyStart, program, 'serve'], {
      env: {
        BASE_ID_TAG: idTag,
        BASE_PASSWORD: testPassword,
        LISTEN: `127.0.0.1:${port}`,
        DATA_DIR: dataDir,
        IDENTITY_HOSTS: peers,
        LOG_LEVEL: 'error',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server of ${idTag} ended with ${code} before it was ready`)
    })
    await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
    return new ServerProcess(place, child)
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
