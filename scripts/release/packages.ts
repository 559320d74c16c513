import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { run } from './run.ts'

/** As npm names the parts: `linux`, `x64`, and of Linux `glibc` or `musl`. */
export interface Platform {
  readonly os: string
  readonly cpu: string
  readonly libc: string | undefined
}

/** What stays a package: native code, the bundler and what it takes of the SDK for apps, and files that are read as they are. */
const roots = [
  'sharp',
  'rolldown',
  'yjs',
  'y-protocols',
  'lib0',
  'idb',
  'typebox',
  'qr',
  '@fastify/swagger-ui',
]
const own = ['app', 'client', 'protocol']
/** Of these only single files are read. */
const parts: Readonly<Record<string, readonly string[]>> = {
  '@fastify/swagger-ui': [
    'package.json',
    'LICENSE',
    'static/swagger-ui.css',
    'static/swagger-ui-bundle.js',
    'static/favicon-32x32.png',
  ],
}
const useless = /\.map$|\.d\.[cm]?ts$|\.md$|\.(?:h|cc|gyp)$|\.flow$|\.tsbuildinfo$/
const uselessFolders = new Set(['include', 'share', 'test', 'tests', '.github'])

/** The folder of packages for a platform: the one that is installed here for the platform of this machine, else a temporary one. */
export async function withPackages<Result>(
  root: string,
  platform: Platform,
  isThisMachine: boolean,
  work: (modules: string) => Promise<Result>,
): Promise<Result> {
  if (isThisMachine) {
    await assertInstalled(root)
    return await work(join(root, 'node_modules'))
  }
  const folder = await mkdtemp(join(tmpdir(), 'kith-release-'))
  try {
    const { workspaces } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const manifests: string[] = ['.', ...workspaces]
    for (const manifest of manifests)
      await cp(join(root, manifest, 'package.json'), join(folder, manifest, 'package.json'))
    await cp(join(root, 'package-lock.json'), join(folder, 'package-lock.json'))
    const { os, cpu, libc } = platform
    const flags = [`--os=${os}`, `--cpu=${cpu}`, ...(libc === undefined ? [] : [`--libc=${libc}`])]
    await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...flags], folder)
    return await work(join(folder, 'node_modules'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What is installed must be what the lock file says. */
async function assertInstalled(root: string): Promise<void> {
  const read = async (name: string) => JSON.parse(await readFile(join(root, name), 'utf8')).packages
  const [wanted, present] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map(read),
  )
  // What is there and not in the file harms nothing: only what is listed here, or imported, is taken.
  for (const [path, { version }] of Object.entries<{ version?: string }>(present))
    if (wanted[path] && wanted[path].version !== version)
      throw new Error(`${path} is not what package-lock.json says: run npm ci`)
}

/** Copies what stays a package below `target`, and answers the folders it was copied from. */
export async function copyPackages(modules: string, target: string, platform: Platform): Promise<string[]> {
  const names = await closure(modules, [...roots, ...nodePackages(platform)])
  for (const name of names)
    await copyPackage(join(modules, name), join(target, 'node_modules', name), parts[name])
  for (const name of own) {
    await mkdir(join(target, 'node_modules/@kith'), { recursive: true })
    await symlink(`../../packages/${name}`, join(target, 'node_modules/@kith', name))
  }
  for (const name of nodePackages(platform)) {
    await mkdir(join(target, 'node_modules/.bin'), { recursive: true })
    await symlink(`../${name}/bin/node`, join(target, 'node_modules/.bin/node'))
  }
  return names.map((name) => join(modules, name))
}

/** Of npm's Node.js; there is one for Linux with glibc. */
function nodePackages({ os, cpu, libc }: Platform): string[] {
  return libc === 'glibc' ? [`node-${os}-${cpu}`] : []
}

async function closure(modules: string, wanted: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const add = async (name: string, isOptional: boolean): Promise<void> => {
    const manifest = join(modules, name, 'package.json')
    // Types are of no use to a program, and parts for other platforms are not installed.
    if (found.has(name) || name.endsWith('/types') || (isOptional && !existsSync(manifest))) return
    found.add(name)
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(await readFile(manifest, 'utf8'))
    if (parts[name]) return
    for (const other of Object.keys(dependencies)) await add(other, other in optionalDependencies)
    for (const other of Object.keys(optionalDependencies)) await add(other, true)
  }
  for (const name of wanted) await add(name, false)
  return [...found].sort()
}

async function copyPackage(from: string, to: string, files: readonly string[] = ['.']): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(to, file)), { recursive: true })
    await cp(join(from, file), join(to, file), {
      recursive: true,
      filter: (path) => path === from || (!useless.test(path) && !uselessFolders.has(basename(path))),
    })
  }
}
