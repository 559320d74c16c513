import {
  AppManifest,
  appManifestPath,
  appPackageLimits,
  appPathKey,
  isAppPath,
  readJson,
} from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { readEntry, readZipIndex, type ZipEntry, type ZipPolicy, type ZipSource } from '#infra/zip/index.ts'
import { hasAmbiguousMembers } from './member-names.ts'
import { explainZipFault, packageFault } from './package-fault.ts'

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

const form = Compile(AppManifest)

/** Reads directory and manifest, and nothing else. Fails with `E-VALIDATION` when it is no package. */
export async function readPackage(source: ZipSource): Promise<AppPackage> {
  try {
    const entries = await readZipIndex(source, policy)
    const manifest = await readManifest(source, entries)
    assertNamed(entries, manifest)
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
  const read = readJson(await readEntry(source, entry), parse)
  if ('problem' in read) throw packageFault('manifest-not-json')
  const { value } = read
  if (form.Check(value)) return known(value)
  throw packageFault('manifest-invalid', form.Errors(value)[0]?.instancePath)
}

/** The manifest without unknown members, whose size the schema does not limit. */
function known(manifest: AppManifest): AppManifest {
  const members = Object.entries(manifest).filter(([name]) => Object.hasOwn(AppManifest.properties, name))
  return Object.fromEntries(members) as AppManifest
}

function parse(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (hasAmbiguousMembers(text)) throw new SyntaxError('members are not told apart by their names')
  return value
}

function assertNamed(entries: readonly ZipEntry[], { entry, icon }: AppManifest): void {
  const isThere = (wanted: string) => entries.some(({ path }) => path === wanted)
  if (!isThere(entry)) throw packageFault('entry-missing', entry)
  if (icon !== undefined && !isThere(icon)) throw packageFault('icon-missing', icon)
}
