import { type AppManifest, appManifestPath, appPackageLimits, appPathKey, isAppPath } from '@kith/protocol'
import {
  readEntry,
  readZipIndex,
  verifyEntries,
  type ZipEntry,
  type ZipPolicy,
  type ZipSource,
} from '#infra/zip/index.ts'
import { explainZipFault, packageFault } from './package-fault.ts'
import { parseManifest } from './parse-manifest.ts'

/** A package as its directory and its manifest describe it. */
export interface AppPackage {
  readonly manifest: AppManifest
  readonly entries: readonly ZipEntry[]
}

const policy: ZipPolicy = {
  maxEntries: appPackageLimits.entries,
  maxInflatedBytes: appPackageLimits.inflatedBytes,
  maxRatio: appPackageLimits.ratio,
  smallBytes: appPackageLimits.smallEntryBytes,
  isPath: isAppPath,
  keyOf: appPathKey,
}

/** Reads directory and manifest, and inflates everything once. Fails with `E-VALIDATION` when it is no package. Who
 * packs, who offers and who installs one ask this alone. */
export async function readPackage(source: ZipSource, signal?: AbortSignal): Promise<AppPackage> {
  try {
    const entries = await readZipIndex(source, policy)
    const manifest = await readManifest(source, entries)
    assertNamed(entries, manifest)
    await verifyEntries(source, entries, signal)
    return { manifest, entries }
  } catch (error) {
    throw explainZipFault(error)
  }
}

async function readManifest(source: ZipSource, entries: readonly ZipEntry[]): Promise<AppManifest> {
  const entry = entries.find(({ path }) => path === appManifestPath)
  if (!entry) throw packageFault('manifest-missing')
  const largest = appPackageLimits.manifestBytes
  if (entry.size > largest || entry.compressedSize > largest) throw packageFault('manifest-too-large')
  return parseManifest(await readEntry(source, entry))
}

function assertNamed(entries: readonly ZipEntry[], { entry, icon }: AppManifest): void {
  const isThere = (wanted: string) => entries.some(({ path }) => path === wanted)
  if (!isThere(entry)) throw packageFault('entry-missing', entry)
  if (icon !== undefined && !isThere(icon)) throw packageFault('icon-missing', icon)
}
