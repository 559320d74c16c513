import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createCertificate } from './certificates.ts'

const port = 14_000
const managementPort = 15_000

interface PebbleOptions {
  /** The address of this machine that it listens on. */
  readonly address: string
  /** `ip:port` of the DNS that it asks. */
  readonly dns: string
  /** Where it looks for the answers to challenges. */
  readonly httpPort: number
  readonly tlsPort: number
  /** How many in a hundred nonces it refuses; none when absent. */
  readonly nonceRejects?: number
  /** Takes some seconds for each check, as authorities do. */
  readonly isSlow?: boolean
  /** How long its certificates live; 90 days when absent. */
  readonly validitySecs?: number
}

/** Pebble, the authority for tests of Let's Encrypt: a whole one, on its usual ports. */
export class Pebble implements AsyncDisposable {
  readonly directoryUrl: string
  /** The file with the certificate that its own address has. */
  readonly caFile: string
  readonly keyFile: string
  readonly #dir: string
  readonly #child: ChildProcess
  readonly #managementUrl: string

  private constructor(dir: string, child: ChildProcess, address: string) {
    this.#dir = dir
    this.#child = child
    this.#managementUrl = `https://${address}:${managementPort}`
    this.caFile = join(dir, 'api.pem')
    this.keyFile = join(dir, 'api.key')
    this.directoryUrl = `https://${address}:${port}/dir`
  }

  static async start(program: string, options: PebbleOptions): Promise<Pebble> {
    const dir = await mkdtemp(join(tmpdir(), 'pebble-'))
    const { address } = options
    const { cert, key } = await createCertificate([address, 'authority.example.com'])
    await writeFile(join(dir, 'api.pem'), cert)
    await writeFile(join(dir, 'api.key'), key)
    const pebble = {
      listenAddress: `${address}:${port}`,
      managementListenAddress: `${address}:${managementPort}`,
      certificate: join(dir, 'api.pem'),
      privateKey: join(dir, 'api.key'),
      httpPort: options.httpPort,
      tlsPort: options.tlsPort,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
      retryAfter: { authz: 1, order: 1 },
      profiles: {
        default: { description: 'for tests', validityPeriod: options.validitySecs ?? 90 * 86_400 },
      },
      certificateValidityPeriod: options.validitySecs ?? 90 * 86_400,
    }
    await writeFile(join(dir, 'config.json'), JSON.stringify({ pebble }))
    const child = spawn(program, ['-config', join(dir, 'config.json'), '-dnsserver', options.dns], {
      env: {
        ...process.env,
        ...(options.isSlow ? { PEBBLE_VA_SLEEPTIME: '4' } : { PEBBLE_VA_NOSLEEP: '1' }),
        PEBBLE_AUTHZREUSE: '0',
        PEBBLE_WFE_NONCEREJECT: String(options.nonceRejects ?? 0),
      },
      stdio: process.env.PEBBLE_LOG ? 'inherit' : 'ignore',
    })
    const started = new Pebble(dir, child, address)
    await started.#ready()
    return started
  }

  /** A PEM file with the root of the certificates that it issues. */
  async root(): Promise<string> {
    return await this.#ask(`${this.#managementUrl}/roots/0`)
  }

  async directory(): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse(await this.#ask(this.directoryUrl))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await once(this.#child, 'exit')
    }
    await rm(this.#dir, { recursive: true, force: true })
  }

  async #ready(): Promise<void> {
    const ended = once(this.#child, 'exit').then(() => Promise.reject(new Error('Pebble did not start')))
    ended.catch(() => undefined)
    const asked = async () => {
      for (let tries = 0; ; tries += 1)
        try {
          return await this.directory()
        } catch (error) {
          if (tries > 200) throw error
          await pause(50)
        }
    }
    await Promise.race([asked(), ended])
  }

  async #ask(url: string): Promise<string> {
    const asked = request(url, { rejectUnauthorized: false, headers: { 'user-agent': 'tests' } }).end()
    const [answer] = await once(asked, 'response')
    return await text(answer)
  }
}
