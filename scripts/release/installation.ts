import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { localFetch } from '../../packages/server/test/harness/local-fetch.ts'

const idTag = 'home.localhost'
const password = 'a password for the trial'
const request = localFetch()

/** Releases beside each other, and a link to the one that runs, as docs/operations/upgrade.md has it. */
export class Installation {
  readonly folder: string
  readonly dataDir: string
  /** Of the last start. */
  #port = 0
  #server: ChildProcess | undefined

  private constructor(folder: string) {
    this.folder = folder
    this.dataDir = join(folder, 'data')
  }

  static async make(folder: string): Promise<Installation> {
    await mkdir(join(folder, 'releases'), { recursive: true })
    return new Installation(folder)
  }

  releaseAt(name: string): string {
    return join(this.folder, 'releases', name)
  }

  async unpack(archive: string, name: string): Promise<void> {
    await mkdir(this.releaseAt(name))
    await promisify(execFile)('tar', ['-xzf', archive, '--strip-components=1', '-C', this.releaseAt(name)])
  }

  /** A release of another commit, whose database has one migration more. */
  async makeNext(from: string, name: string, commit: string): Promise<void> {
    await cp(this.releaseAt(from), this.releaseAt(name), { recursive: true, verbatimSymlinks: true })
    const about = join(this.releaseAt(name), 'release.json')
    await writeFile(about, JSON.stringify({ ...JSON.parse(await readFile(about, 'utf8')), commit }))
    const library = join(this.releaseAt(name), 'packages/server/lib')
    const more = `{ id: '9999_trial', up: (schema) => schema.createTable('trial', { trial_id: 'autoincrement' }) }`
    let changed = 0
    for (const file of await readdir(library)) {
      const text = await readFile(join(library, file), 'utf8')
      const changedText = text.replace(
        /(\bmigrations = \[\n(?:\s*\.\.\.\w+,?\n)+)(\s*\])/,
        (_whole, list: string, end: string) => {
          changed += 1
          return `${list.trimEnd().replace(/,?$/, ',')}\n${more}\n${end}`
        },
      )
      await writeFile(join(library, file), changedText)
    }
    if (changed !== 1) throw new Error(`the list of migrations was found ${changed} times`)
  }

  /** Lets the link lead to another release, at once. */
  async switchTo(name: string): Promise<void> {
    const link = join(this.folder, 'current')
    await symlink(this.releaseAt(name), `${link}.new`)
    await rename(`${link}.new`, link)
  }

  /** Starts what the link leads to; fails with what it says when it ends before it is ready. */
  async start(): Promise<void> {
    const child = spawn(this.#program(), ['serve'], { env: this.#env(0), stdio: ['ignore', 'pipe', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', (chunk) => {
      complaint += chunk
    })
    const ended = once(child, 'close').then(([code]) => {
      throw new Error(`it ended with ${code}: ${complaint}`)
    })
    const ready = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>
    const [line] = await Promise.race([ready, ended])
    this.#port = Number(new URL(JSON.parse(line).url).port)
    ended.catch(() => undefined)
    this.#server = child
  }

  /** Stops it with SIGTERM, or without one. Answers its exit code. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const server = this.#server
    if (!server) return null
    this.#server = undefined
    server.kill(signal)
    await once(server, 'exit')
    return server.exitCode
  }

  /** What a command prints; fails when it does. */
  async kith(...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(this.#program(), words, {
      env: this.#env(this.#port),
      cwd: this.folder,
    })
    return stdout
  }

  send(path: string, init?: RequestInit): Promise<Response> {
    return request(`http://${idTag}:${this.#port}${path}`, init)
  }

  /** The headers of a fresh session. */
  async signIn(): Promise<Record<string, string>> {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ idTag, password })
    const response = await this.send('/api/auth/login', { method: 'POST', headers, body })
    const { data } = (await response.json()) as { data: { token: string } }
    return { ...headers, authorization: `Bearer ${data.token}` }
  }

  #program(): string {
    return join(this.folder, 'current/bin/kith')
  }

  #env(port: number): Record<string, string> {
    return {
      // No Node of this repository: the release has its own.
      PATH: '/usr/bin:/bin',
      BASE_ID_TAG: idTag,
      BASE_PASSWORD: password,
      LISTEN: `127.0.0.1:${port}`,
      DATA_DIR: this.dataDir,
      LOG_LEVEL: 'error',
    }
  }
}
