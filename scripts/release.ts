import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findCommit } from '../packages/server/src/app/find-commit.ts'
import { bundleServer, licencesOf } from './release/bundle.ts'
import { copyPackages, type Platform, withPackages } from './release/packages.ts'
import { run } from './release/run.ts'

// npm run release -- [--platform linux-arm64] [--out dist] [--commit ID] [--folder]: the archive of a release with its checksum, or its folder alone.

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    platform: { type: 'string', default: thisMachine() },
    out: { type: 'string', default: 'dist' },
    commit: { type: 'string' },
    folder: { type: 'boolean', default: false },
  },
})
const platform = readPlatform(values.platform)
const { version } = JSON.parse(await readFile(join(root, 'packages/server/package.json'), 'utf8'))
// In an image there is no clone to find it in.
const commit = values.commit || findCommit(root)
// Releases lie beside each other: two commits of one version have two names.
const name = ['kith', version, commit?.slice(0, 8), values.platform].filter(Boolean).join('-')
const out = resolve(values.out)
const target = join(out, name)

if (!existsSync(join(root, 'packages/web/dist/app.html')))
  throw new Error('the web app is not built: npm run build')
await rm(target, { recursive: true, force: true })
const bundled = await bundleServer(root, target)
await withPackages(root, platform, values.platform === thisMachine(), async (modules) => {
  const copied = await copyPackages(modules, target, platform)
  await writeFile(join(target, 'THIRD-PARTY-LICENSES'), licencesOf([...new Set([...bundled, ...copied])]))
})
await copySources()
await stripNode()
await writeJson('release.json', {
  version,
  ...(commit === undefined ? {} : { commit }),
  platform: values.platform,
})
if (values.folder) console.log(relative('', target))
else await pack()

function thisMachine(): string {
  const isMusl =
    process.platform === 'linux' &&
    (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header
      .glibcVersionRuntime === undefined
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

function readPlatform(text: string): Platform {
  const [, os = '', cpu = '', musl] = /^(linux|darwin)-(x64|arm64)(-musl)?$/.exec(text) ?? []
  if (os === '' || (musl && os !== 'linux'))
    throw new Error(
      `--platform is linux-x64, linux-arm64, either with -musl, darwin-x64 or darwin-arm64, not ${text}`,
    )
  return { os, cpu, libc: os === 'linux' ? (musl ? 'musl' : 'glibc') : undefined }
}

/** What is read as it is: the SDK for apps with its examples, files of pages, and what an operator needs. */
async function copySources(): Promise<void> {
  for (const path of [
    ...['app', 'client', 'protocol'].flatMap((each) => [
      `packages/${each}/package.json`,
      `packages/${each}/src`,
    ]),
    'packages/server/bin/kith.js',
    'packages/web/dist',
    'packages/server/src/features/pages/assets',
    'packages/server/src/app/cli/app/dev/page',
    'examples',
    'docs/operations',
    'deploy/kith.service',
    'deploy/kith-ports.conf',
    'deploy/kith.sh',
    'deploy/Caddyfile',
    'deploy/nginx.conf',
    'deploy/fail2ban/filter.conf',
    'deploy/fail2ban/jail.conf',
    'deploy/grafana-dashboard.json',
    ...['LICENSE', 'README.md', 'CHANGELOG.md'],
  ])
    await cp(join(root, path), join(target, path), {
      recursive: true,
      filter: (file) => !/\.test\.ts$|\/examples\/\w+\/test$/.test(file),
    })
  await writeJson('packages/server/package.json', {
    name: '@kith/server',
    version,
    private: true,
    type: 'module',
  })
  await mkdir(join(target, 'bin'), { recursive: true })
  await copyFile(join(root, 'scripts/release/kith.sh'), join(target, 'bin/kith'))
}

/** A fifth of the Node.js of npm are symbols for debuggers. */
async function stripNode(): Promise<void> {
  const node = join(target, `node_modules/node-${platform.os}-${platform.cpu}/bin/node`)
  if (!existsSync(node)) return
  const tools =
    platform.cpu === process.arch
      ? ['strip']
      : [`${platform.cpu === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu-strip`]
  for (const tool of [...tools, 'llvm-strip'])
    try {
      return void execFileSync(tool, [node], { stdio: 'ignore' })
    } catch {
      // The next one; without any the archive is larger.
    }
  console.error('No strip (binutils) for this platform: the Node.js in the archive keeps its symbols')
}

async function writeJson(path: string, content: object): Promise<void> {
  await mkdir(dirname(join(target, path)), { recursive: true })
  await writeFile(join(target, path), `${JSON.stringify(content, undefined, 2)}\n`)
}

async function pack(): Promise<void> {
  const archive = `${target}.tar.gz`
  // The same bytes for the same files, which the user of the server can read whatever the umask here.
  const entries = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mtime=@0',
    '--mode=u+rwX,go=rX',
    name,
  ]
  await run('tar', ['--create', '--gzip', '--file', archive, '--directory', out, ...entries])
  const hash = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
  await writeFile(`${archive}.sha256`, `${hash}  ${name}.tar.gz\n`)
  await rm(target, { recursive: true })
  console.log(relative('', archive))
}
