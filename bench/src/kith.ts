import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { type Load, type LoadResult, load } from './load.ts'
import { firstLine, processorMs, processorMsWithChildren, residentMb, spawnOn, stop } from './processes.ts'
import type { Settings } from './settings.ts'

const program = new URL('../../packages/server/bin/kith.js', import.meta.url)
export const idTag = 'bench.localhost' as IdTag
export const password = 'a password for the bench'

export interface ServedLoad extends LoadResult {
  /** Processor time of the server per request, in milliseconds, with what it did beside. */
  readonly cpuMs: number
}

/** A server in a process of its own on the first processor. */
export class Kith implements AsyncDisposable {
  readonly url: string
  readonly #process: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#process = child
    this.url = url
  }

  static async start(
    dataDir: string,
    { profileDir }: Pick<Settings, 'profileDir'> = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<Kith> {
    const child = spawnOn(0, program, {
      args: ['serve'],
      nodeArgs: profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`],
      env: {
        BASE_ID_TAG: idTag,
        BASE_PASSWORD: password,
        LISTEN: '127.0.0.1:0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'error',
        // The load counts as many addresses, as it would come from.
        TRUSTED_PROXIES: '127.0.0.1',
        ...env,
      },
    })
    const { url } = await firstLine(child)
    return new Kith(child, String(url))
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  async signIn(): Promise<string> {
    const response = await fetch(`${this.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ idTag, password }),
    })
    if (!response.ok) throw new Error(`sign-in answered ${response.status}`)
    const { data } = (await response.json()) as { data: { token: string } }
    return data.token
  }

  /** Puts a load on the server; `path` is the rest of the address. */
  async load({ path, ...request }: Omit<Load, 'url'> & { readonly path: string }): Promise<ServedLoad> {
    const before = await processorMs(this.pid)
    const result = await load({ ...request, url: this.url + path })
    return { ...result, cpuMs: ((await processorMs(this.pid)) - before) / result.requests }
  }

  /** A figure of the server's metrics; those of the event loop begin anew with each question. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text()
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  }

  /** Processor time that the server and its workers have used, in milliseconds. */
  processorMs(): Promise<number> {
    return processorMsWithChildren(this.pid)
  }

  residentMb(): Promise<number> {
    return residentMb(this.pid)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return stop(this.#process)
  }
}

/** A data directory that is gone at the end. */
export async function tempDir(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'kith-bench-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
