import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** The repository. */
export const root = resolve(import.meta.dirname, '../../../..')
const source = join(root, 'packages/server/src')
const web = join(root, 'packages/web')

export interface SourceFile {
  /** Path below the repository, with forward slashes. */
  readonly path: string
  readonly text: string
  /** Imported modules: repository paths for our own, package names otherwise. */
  readonly imports: readonly string[]
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => (entry.isFile() && entry.name.endsWith('.ts')) || entry.name.endsWith('.tsx'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/node_modules|\/dist\//.test(path))
    .sort()
}

/** The modules below a folder of the repository. */
export function loadSources(folder: string): SourceFile[] {
  return filesBelow(join(root, folder)).map((absolute) => {
    const text = readFileSync(absolute, 'utf8')
    const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '')
    return {
      path: relative(root, absolute),
      text,
      imports: specifiers.map((specifier) => resolveImport(absolute, specifier)),
    }
  })
}

function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return relative(root, resolve(dirname(from), specifier))
  if (specifier.startsWith('#harness/')) return `packages/server/test/harness/${specifier.slice(9)}`
  if (from.startsWith(web) && specifier.startsWith('#'))
    return relative(root, join(web, 'src', specifier.slice(1)))
  if (specifier.startsWith('#')) return relative(root, join(source, specifier.slice(1)))
  // Of `@kith/client/rtdb` as well: which entry it is does not count here.
  const [, own] = /^@kith\/(\w+)/.exec(specifier) ?? []
  if (own !== undefined) return `packages/${own}/src/index.ts`
  return specifier
}
