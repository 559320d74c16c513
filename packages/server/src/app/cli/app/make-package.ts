import { type AppManifest, appManifestPath, appPackageLimits, appPathKey, isAppPath } from '@kith/protocol'
import { bundleScripts } from './bundle-scripts.ts'
import { packageFailure, readProject } from './read-project.ts'
import { writeZip, type ZipEntry } from './write-zip.ts'

export interface AppPackage {
  readonly manifest: AppManifest
  readonly zip: Buffer
  readonly entries: number
  readonly inflatedBytes: number
}

/** Bundles the app in a folder and packs it. Throws a `Failure` where a server would not install it. */
export async function makePackage(folder: string): Promise<AppPackage> {
  const project = await readProject(folder)
  const entries = await bundleScripts(project, { minify: true })
  const { manifest } = project
  assertWithinLimits(manifest, entries)
  const zip = writeZip(entries)
  if (zip.length > appPackageLimits.bytes) throw packageFailure('too-large')
  return { manifest, zip, entries: entries.length, inflatedBytes: inflatedBytesOf(entries) }
}

function assertWithinLimits({ entry, icon }: AppManifest, entries: readonly ZipEntry[]): void {
  const paths = new Set(entries.map(({ path }) => path))
  const keys = new Set<string>()
  for (const { path } of entries) {
    if (!isAppPath(path)) throw packageFailure('bad-path', path)
    if (keys.has(appPathKey(path))) throw packageFailure('duplicate-path', path)
    keys.add(appPathKey(path))
  }
  const manifest = entries.find(({ path }) => path === appManifestPath)
  if (!manifest) throw packageFailure('manifest-missing')
  if (manifest.content.length > appPackageLimits.manifestBytes) throw packageFailure('manifest-too-large')
  if (!paths.has(entry)) throw packageFailure('entry-missing', entry)
  if (icon !== undefined && !paths.has(icon)) throw packageFailure('icon-missing', icon)
  if (entries.length > appPackageLimits.entries) throw packageFailure('too-many-entries')
  if (inflatedBytesOf(entries) > appPackageLimits.inflatedBytes) throw packageFailure('inflated-too-large')
}

function inflatedBytesOf(entries: readonly ZipEntry[]): number {
  return entries.reduce((sum, { content }) => sum + content.length, 0)
}
