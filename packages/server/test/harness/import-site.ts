import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { importDeps } from '#app/cli/transfer/import.ts'
import { importTenant } from '#app/cli/transfer/import-tenant.ts'
import { purgeTenant } from '#app/purge/purge-tenant.ts'
import { exportTenant } from '#features/transfer/index.ts'
import { TenantArchive } from './tenant-archive.ts'
import type { TestNetwork } from './test-network.ts'
import type { TestServer } from './test-server.ts'

type Imported = Awaited<ReturnType<typeof importTenant>>

/** A tenant of the network's first server whose archive is changed and imported by its second. */
export class ImportSite implements AsyncDisposable {
  readonly #network: TestNetwork
  readonly #idTag: IdTag
  readonly #folder: string
  #files = 0

  constructor(network: TestNetwork, idTag: IdTag, folder: string) {
    this.#network = network
    this.#idTag = idTag
    this.#folder = folder
  }

  static async open(network: TestNetwork, idTag: IdTag): Promise<ImportSite> {
    return new ImportSite(network, idTag, await mkdtemp(join(tmpdir(), 'kith-imports-')))
  }

  /** How many were changed so far: a part of names that are used once. */
  get archives(): number {
    return this.#files
  }

  get target(): TestServer {
    return this.#network.server(1)
  }

  /** Writes the archive that all others are made of. */
  async export(): Promise<void> {
    const { services, features } = this.#network.server(0).running
    const hosted = await features.identity.tenants.find(this.#idTag)
    if (!hosted) throw new Error(`${this.#idTag} is missing`)
    const { suspendedAt: _, ...active } = hosted
    const path = join(this.#folder, 'honest')
    await exportTenant({ ...services, version: '1.0.0' }, active, { path, withKeys: true })
  }

  async changed(change: (archive: TenantArchive) => void = () => undefined): Promise<string> {
    const archive = await TenantArchive.read(join(this.#folder, 'honest'))
    change(archive)
    this.#files += 1
    const path = join(this.#folder, String(this.#files))
    await archive.write(path)
    return path
  }

  attempt(path: string): Promise<Imported> {
    const { services, features } = this.target.running
    return importTenant(importDeps(services, features.identity), path)
  }

  /** Imports, does the work, and removes what was imported. */
  async importing<Result>(path: string, work: (imported: Imported) => Promise<Result>): Promise<Result> {
    const imported = await this.attempt(path)
    try {
      return await work(imported)
    } finally {
      await this.remove()
    }
  }

  async remove(): Promise<void> {
    const { services, features } = this.target.running
    const { tenants } = features.identity
    const found = await tenants.find(this.#idTag)
    if (!found) return
    if (found.suspendedAt === undefined) await this.target.suspend(this.#idTag)
    const { suspendedAt = 0, ...tenant } = (await tenants.find(this.#idTag)) ?? found
    const pause = async (ms: number) => void this.#network.clock.advance(ms)
    const deps = { ...services, ...features.identity, pause, by: 'command line' as const }
    await purgeTenant(deps, { ...tenant, suspendedAt })
    await this.#network.settle()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}
