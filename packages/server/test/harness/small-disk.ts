import { spawnSync } from 'node:child_process'
import { rm, statfs, writeFile } from 'node:fs/promises'
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

  /** Takes everything but so many bytes. */
  async fill(leftBytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.path)
    await writeFile(this.#ballast, new Uint8Array(Math.max(0, bavail * bsize - leftBytes)))
  }

  async makeRoom(): Promise<void> {
    await rm(this.#ballast)
  }
}
