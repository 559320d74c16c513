import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { type AppManifest, appManifestPath, appPackageLimits, isAppPath } from '@kith/protocol'
import { packageFault, parseManifest } from '#features/apps/index.ts'
import { UsageError } from '../command.ts'
import type { ZipEntry } from './write-zip.ts'

/** The folder of an app: its manifest, and the files that are packed as they are. */
export interface AppProject {
  readonly folder: string
  readonly manifest: AppManifest
  readonly files: readonly ZipEntry[]
}

const sourceFolders = new Set(['src', 'node_modules'])
// Tests need no package, and what they read is no part of the app.
const testFolder = 'test'
const sourceFile = /\.(?:[cm]?ts|[jt]sx)$/
const notPacked = /^(?:\..*|package(?:-lock)?\.json|tsconfig.*\.json|.*\.(?:md|zip))$/

/** Whether a path in the folder is a source, which is bundled instead of packed. */
export function isSource(path: string): boolean {
  const [top = ''] = path.split('/')
  return sourceFile.test(path) || sourceFolders.has(top)
}

/** Reads the folder of an app, without its sources and tests. Throws a `Failure` where it cannot be packed. */
export async function readProject(folder: string): Promise<AppProject> {
  const manifest = await readManifest(folder)
  const files: ZipEntry[] = []
  let bytes = 0
  for (const path of await listPacked(folder)) {
    if (!isAppPath(path)) throw packageFault('bad-path', path)
    bytes += (await stat(join(folder, path))).size
    if (bytes > appPackageLimits.inflatedBytes) throw packageFault('inflated-too-large', path)
    files.push({ path, content: await readFile(join(folder, path)) })
  }
  return { folder, manifest, files }
}

async function readManifest(folder: string): Promise<AppManifest> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw new UsageError(`FOLDER ${folder} is ${found ? 'no folder' : 'not there'}`)
  const file = join(folder, appManifestPath)
  const manifest = await lstat(file).catch(() => undefined)
  // A pipe would be read for ever.
  if (!manifest?.isFile()) throw packageFault(manifest ? 'symlink' : 'manifest-missing', appManifestPath)
  if (manifest.size > appPackageLimits.manifestBytes) throw packageFault('manifest-too-large')
  return parseManifest(await readFile(file))
}

async function listPacked(folder: string, below = folder): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readdir(below, { withFileTypes: true })) {
    const absolute = join(below, entry.name)
    const path = relative(folder, absolute).split(sep).join('/')
    if (notPacked.test(entry.name) || path === testFolder || isSource(path)) continue
    if (entry.isDirectory()) paths.push(...(await listPacked(folder, absolute)))
    else if (entry.isFile()) paths.push(path)
    else throw packageFault('symlink', path)
  }
  return paths
}
