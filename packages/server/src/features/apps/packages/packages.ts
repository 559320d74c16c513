import { open } from 'node:fs/promises'
import { type AppCapability, appPackageLimits, isOfFileTypes } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import type { ZipSource } from '#infra/zip/index.ts'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError, type GateLimits } from '#lib/gate.ts'
import { packageFault } from './package-fault.ts'
import { type AppPackage, readPackage } from './read-package.ts'

interface Shown {
  readonly capabilities?: readonly AppCapability[]
  readonly fileTypes?: readonly string[]
}

/** What an offer says of its package. `capabilities` and `fileTypes` are all that the package may ask for and open; without
 * `capabilities` nobody was shown anything yet. */
interface Promised extends Shown {
  readonly name: string
  readonly version: string
}

interface PackageCheck {
  /** The tenant whose turn it takes. */
  readonly asker: TenantId
  readonly file: { readonly path: string; readonly size: number }
  readonly promised: Promised
  readonly signal?: AbortSignal | undefined
}

// Inflating takes a thread of the pool each. Getting the bytes takes none, but minutes where they come from a slow server.
const waiting = { perKey: 1, waitingPerKey: 4, waiting: 64 }
const limits = { gotten: { total: 32, ...waiting }, checked: { total: 2, ...waiting } } as const
const retryAfterSecs = 5

/** Checks packages, a few at a time. */
export class Packages {
  // Both are bounded by their limits.
  readonly #gotten = new Gate(limits.gotten satisfies GateLimits)
  readonly #checked = new Gate(limits.checked satisfies GateLimits)

  /** Waits until no other package is being installed at the tenant; disposing lets the next one begin. */
  takeTurn(asker: TenantId, signal: AbortSignal): Promise<Disposable> {
    return enter(this.#gotten, asker, signal)
  }

  /** Checks all of a package, and answers what it says of itself. */
  async check({ asker, file, promised, signal }: PackageCheck): Promise<AppPackage> {
    if (file.size > appPackageLimits.bytes) throw packageFault('too-large')
    using _turn = await enter(this.#checked, asker, signal)
    await using handle = await open(file.path, 'r')
    const source: ZipSource = { file: handle, size: file.size }
    const read = await readPackage(source, signal)
    assertAsPromised(read, promised)
    return read
  }
}

function assertAsPromised({ manifest }: AppPackage, promised: Promised): void {
  const isSame = manifest.name === promised.name && manifest.version === promised.version
  const isShown = promised.capabilities === undefined || asksNoMore(manifest, promised)
  if (!isSame || !isShown) throw packageFault('manifest-differs')
}

/** Whether all that a package asks for and opens is among what somebody was shown. */
export function asksNoMore(asked: Shown, shown: Shown): boolean {
  const { capabilities = [], fileTypes = [] } = shown
  return (
    (asked.capabilities ?? []).every((one) => capabilities.includes(one)) &&
    (asked.fileTypes ?? []).every((type) => isOfFileTypes(fileTypes, type))
  )
}

async function enter(gate: Gate, asker: TenantId, signal?: AbortSignal): Promise<Disposable> {
  try {
    return { [Symbol.dispose]: await gate.enter(String(asker), signal) }
  } catch (error) {
    throw error instanceof GateFullError ? new Failure('E-UNAVAILABLE', { retryAfterSecs }) : error
  }
}
