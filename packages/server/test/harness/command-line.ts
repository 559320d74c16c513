import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '#app/cli/run-command-line.ts'
import { testPassword } from './test-server.ts'

/** What a command line has said, and how it has ended. */
export interface Said {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

/** The command line in this process, with an environment and a data directory of its own that is not there yet. */
export class CommandLine implements AsyncDisposable {
  readonly folder: string
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
  /** For how long a command meant to wait, in milliseconds; none does. */
  readonly pauses: number[] = []

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder
    this.dataDir = join(folder, 'data')
    this.env = { DATA_DIR: this.dataDir, LISTEN: '127.0.0.1:0', BASE_PASSWORD: testPassword, ...env }
  }

  static async open(env: Readonly<Record<string, string>> = {}): Promise<CommandLine> {
    return new CommandLine(await mkdtemp(join(tmpdir(), 'kith-cli-')), env)
  }

  /** Runs the words of a line; `answer` is what is typed when it asks. */
  async run(
    words: readonly string[],
    { answer = '', signal = new AbortController().signal }: { answer?: string; signal?: AbortSignal } = {},
  ): Promise<Said> {
    const said = { out: '', err: '' }
    const exitCode = await runCommandLine(words, {
      env: this.env,
      print: (text) => {
        said.out += `${text}\n`
      },
      complain: (text) => {
        said.err += `${text}\n`
      },
      ask: async () => answer,
      interruption: () => signal,
      pause: async (ms) => this.pauses.push(ms),
    })
    return { exitCode, ...said }
  }

  /** The document that a line prints with `--json`; fails when the line does. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever stands in it.
  async json(...words: string[]): Promise<any> {
    const { exitCode, out, err } = await this.run([...words, '--json'])
    if (exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${exitCode}: ${err}${out}`)
    return JSON.parse(out)
  }

  /** How a line with `--json` fails: its exit code and the error that it writes. Nothing else may be printed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any member of the error.
  async fails(...words: string[]): Promise<any> {
    const { exitCode, out, err } = await this.run([...words, '--json'])
    if (out !== '') throw new Error(`${words.join(' ')} printed ${out}`)
    return { exitCode, ...JSON.parse(err).error }
  }

  /** The same place with another environment. */
  with(env: Readonly<Record<string, string>>): CommandLine {
    return new CommandLine(this.folder, { ...this.env, ...env })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
