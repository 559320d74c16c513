import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, posix, relative } from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'

// Native, or started by a path of its own.
const external = ['sharp', 'rolldown', 'pg-native']
const entry = 'packages/server/bin/start.js'
const chunkFolder = 'packages/server/lib'
/** Programs of threads and processes, each a file of its own in the place of its source. */
const workers = [
  'packages/server/src/features/documents/threads/document-worker.ts',
  'packages/server/src/infra/db/checkpoint-worker.ts',
  'packages/server/src/infra/db/foreign/inspect-worker.ts',
  'packages/server/src/infra/images/images-worker.ts',
]

/** Writes the server as JavaScript below `target`: the entry, chunks for what is imported when it is first needed, and the workers.
 * Answers the folders of the packages that went into it. */
export async function bundleServer(root: string, target: string): Promise<string[]> {
  const main = await build(root, {
    input: entry,
    folder: chunkFolder,
    entryFileNames: entry,
    chunkFileNames: `${chunkFolder}/[name]-[hash].js`,
  })
  const chunks = [...main]
  for (const worker of workers) {
    const entryFileNames = worker.replace(/\.ts$/, '.mjs')
    chunks.push(...(await build(root, { input: worker, folder: dirname(worker), entryFileNames })))
  }
  for (const { fileName, code } of chunks) {
    const file = join(target, fileName)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, code)
  }
  return packagesOf(chunks)
}

interface BuildOptions {
  readonly input: string
  /** Where the modules end up. */
  readonly folder: string
  readonly entryFileNames: string
  readonly chunkFileNames?: string
}

async function build(root: string, options: BuildOptions): Promise<OutputChunk[]> {
  const { input, folder, entryFileNames, chunkFileNames } = options
  const bundle = await rolldown({
    input: join(root, input),
    cwd: root,
    platform: 'node',
    external,
    plugins: [keepPlaces(root, folder)],
    logLevel: 'warn',
  })
  try {
    const { output } = await bundle.generate({
      format: 'esm',
      // Packages that need others to have run before them are found in that order.
      strictExecutionOrder: true,
      entryFileNames,
      ...(chunkFileNames ? { chunkFileNames } : { codeSplitting: false }),
    })
    return output.filter((file) => file.type === 'chunk')
  } finally {
    await bundle.close()
  }
}

/** Modules that find files beside them find them there still, though their code is elsewhere now. */
function keepPlaces(root: string, folder: string): Plugin {
  const names = workers.map((path) => posix.basename(path))
  return {
    name: 'kith-places',
    transform(code, id) {
      const path = relative(root, id)
      if (!path.startsWith('packages/') || path === entry || !code.includes('import.meta.')) return undefined
      const to = (target: string) => JSON.stringify(posix.relative(folder, target))
      let placed = code
        .replaceAll(
          'import.meta.dirname',
          `process.getBuiltinModule('path').join(IMPORT.dirname, ${to(dirname(path))})`,
        )
        .replaceAll('import.meta.url', `new URL(${to(path)}, IMPORT.url).href`)
        .replaceAll('IMPORT.', 'import.meta.')
      for (const name of names) placed = placed.replaceAll(name, name.replace(/\.ts$/, '.mjs'))
      return { code: placed }
    },
  }
}

function packagesOf(chunks: readonly OutputChunk[]): string[] {
  const found = chunks
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [])
  return [...new Set(found)].filter((folder) => existsSync(join(folder, 'package.json'))).sort()
}

/** The licences of packages, each with its text. */
export function licencesOf(folders: readonly string[]): string {
  return folders
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
      const text =
        file === undefined
          ? 'Its package has no text of it.'
          : readFileSync(join(folder, file), 'utf8').trim()
      return `${name} ${version}: ${license ?? 'see below'}\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
