import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A command that finds a file system of so many megabytes at a folder, in a mount namespace of its own: nobody else
 * sees it, and it is gone with the process. */
export function onSmallDisk(
  dir: string,
  megabytes: number,
  command: readonly string[],
): [string, ...string[]] {
  const mount = `mount -t tmpfs -o size=${megabytes}m none "$0" && exec "$@"`
  return ['unshare', '--map-root-user', '--mount', 'sh', '-c', mount, dir, ...command]
}

/** Whether this machine lets users mount. */
export function canMount(): boolean {
  const [program, ...args] = onSmallDisk(tmpdir(), 1, ['true'])
  return spawnSync(program, args).status === 0
}

/** The small disk of a process, seen from outside. */
export class SmallDisk {
  /** Its root, for this process. */
  readonly path: string
  readonly #ballast: string

  constructor(pid: number, dir: string) {
    this.path = `/proc/${pid}/root${dir}`
    this.#ballast = join(this.path, 'ballast')
  }

  /** Takes everything but so many bytes, beside what it has taken before. Processes that write or delete at the same time
   * change how much room there is: it is asked again until no more is left, or the file system says that it is full. */
  async fill(leftBytes: number): Promise<void> {
    for (;;) {
      const { bavail, bsize } = await statfs(this.path)
      const takenBytes = bavail * bsize - leftBytes
      if (takenBytes <= 0) return
      try {
        await appendFile(this.#ballast, new Uint8Array(takenBytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
        throw error
      }
    }
  }

  async makeRoom(): Promise<void> {
    await rm(this.#ballast)
  }
}

/** A small disk that outlives the processes which use it. */
export class LastingDisk extends SmallDisk implements AsyncDisposable {
  readonly #holder: ChildProcess

  private constructor(holder: ChildProcess, dir: string) {
    super(holder.pid ?? 0, dir)
    this.#holder = holder
  }

  static async mount(dir: string, megabytes: number): Promise<LastingDisk> {
    const [program, ...args] = onSmallDisk(dir, megabytes, ['sh', '-c', 'echo mounted && exec sleep 600'])
    const holder = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    return new LastingDisk(holder, dir)
  }

  /** The command, run where the disk is mounted. */
  within(command: readonly string[]): [string, ...string[]] {
    const target = ['--target', `${this.#holder.pid}`, '--user', '--mount', '--preserve-credentials']
    return ['nsenter', ...target, ...command]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return
    this.#holder.kill('SIGKILL')
    await once(this.#holder, 'exit')
  }
}
