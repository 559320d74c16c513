import { type AppManifest, appPackageLimits } from '@kith/protocol'
import { packageFault, readPackage } from '#features/apps/index.ts'
import { zipInMemory } from '#infra/zip/index.ts'
import { bundleScripts } from './bundle-scripts.ts'
import { warningsOf } from './page-resources.ts'
import { readProject } from './read-project.ts'
import { writeZip, type ZipEntry } from './write-zip.ts'

export interface AppPackage {
  readonly manifest: AppManifest
  readonly zip: Buffer
  readonly entries: number
  readonly inflatedBytes: number
  /** What will not work of its pages, in sentences. */
  readonly warnings: readonly string[]
}

/** Bundles the app in a folder and packs it. Throws a `Failure` where a server would not install it. */
export async function makePackage(folder: string): Promise<AppPackage> {
  const project = await readProject(folder)
  const entries = await bundleScripts(project, { minify: true })
  // More would not fit into the directory.
  if (entries.length > appPackageLimits.entries) throw packageFault('too-many-entries')
  const zip = writeZip(entries)
  if (zip.length > appPackageLimits.bytes) throw packageFault('too-large')
  const { manifest } = await readPackage(zipInMemory(zip))
  const inflatedBytes = inflatedBytesOf(entries)
  return { manifest, zip, entries: entries.length, inflatedBytes, warnings: warningsOf(entries) }
}

function inflatedBytesOf(entries: readonly ZipEntry[]): number {
  return entries.reduce((sum, { content }) => sum + content.length, 0)
}
