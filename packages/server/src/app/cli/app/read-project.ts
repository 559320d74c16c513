import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import {
  AppManifest,
  type AppPackageFault,
  appContentType,
  appManifestPath,
  appPackageFaults,
  appPackageLimits,
  isAppPath,
} from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { Failure } from '#lib/failure.ts'
import type { ZipEntry } from './write-zip.ts'

/** The folder of an app: its manifest, and the files that are packed as they are. */
export interface AppProject {
  readonly folder: string
  readonly manifest: AppManifest
  readonly files: readonly ZipEntry[]
}

// Of a file, as the API takes it.
const maxContentType = 127
const isManifest = Compile(AppManifest)

/** Folders whose content is not packed: sources are bundled. */
const sourceFolders = new Set(['src', 'node_modules'])
const notPacked = /^(?:\..*|package(?:-lock)?\.json|tsconfig.*\.json|.*\.(?:md|ts|zip))$/

/** Reads the folder of an app, without the sources in `src`. Throws a `Failure` where it cannot be packed. */
export async function readProject(folder: string): Promise<AppProject> {
  const manifest = await readManifest(folder)
  const files: ZipEntry[] = []
  let bytes = 0
  for (const path of await listPacked(folder)) {
    if (!isAppPath(path)) throw packageFailure('bad-path', path)
    bytes += (await stat(join(folder, path))).size
    if (bytes > appPackageLimits.inflatedBytes) throw packageFailure('inflated-too-large', path)
    files.push({ path, content: await readFile(join(folder, path)) })
  }
  return { folder, manifest, files }
}

/** Why a package cannot be made, in the words with which a server refuses it. */
export function packageFailure(reason: AppPackageFault, path?: string): Failure {
  const message = appPackageFaults[reason] + (path === undefined ? '' : ` (${path})`)
  return new Failure('E-VALIDATION', {
    message,
    details: { reason, ...(path === undefined ? {} : { path }) },
  })
}

async function readManifest(folder: string): Promise<AppManifest> {
  const text = await readFile(join(folder, appManifestPath), 'utf8').catch(() => {
    throw packageFailure('manifest-missing')
  })
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch (cause) {
    throw new Failure('E-VALIDATION', { message: appPackageFaults['manifest-not-json'], cause })
  }
  if (isManifest.Check(manifest)) return withFileType(manifest)
  const issues = isManifest
    .Errors(manifest)
    .map(({ instancePath, message }) => ({ path: instancePath, message }))
  const details = { reason: 'manifest-invalid', issues }
  throw new Failure('E-VALIDATION', { message: appPackageFaults['manifest-invalid'], details })
}

/** An app whose files could not carry its id is none that can be used. */
function withFileType(manifest: AppManifest): AppManifest {
  if (appContentType(manifest).length > maxContentType) throw packageFailure('manifest-invalid', '/id')
  return manifest
}

async function listPacked(folder: string, below = folder): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readdir(below, { withFileTypes: true })) {
    const absolute = join(below, entry.name)
    const isSource = below === folder && sourceFolders.has(entry.name)
    if (notPacked.test(entry.name) || isSource) continue
    if (entry.isDirectory()) paths.push(...(await listPacked(folder, absolute)))
    else if (entry.isFile()) paths.push(relative(folder, absolute).split(sep).join('/'))
    else throw packageFailure('symlink', relative(folder, absolute))
  }
  return paths
}
