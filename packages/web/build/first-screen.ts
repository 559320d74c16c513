import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CodeSplittingGroup } from 'rolldown'

const source = join(import.meta.dirname, '../src')
/** What is shown first: the frame of all screens, and the feed in it. */
const roots = [join(source, 'app/main.tsx'), join(source, 'features/feed/screens.ts')]
// The second is what the bundler adds itself.
const isLibrary = (id: string) => /node_modules|packages\/(client|protocol)\/|^\0rolldown/.test(id)

/** Two files of what the first screen needs, which are asked for together, instead of one for each set of screens that share
 * something. Libraries stay apart: they seldom change. */
export function firstScreenGroups(): CodeSplittingGroup[] {
  let needed: ReadonlySet<string> | undefined
  const nameOf =
    (name: string, isIn: (id: string) => boolean): CodeSplittingGroup['name'] =>
    (id, context) => {
      needed ??= importedFrom(roots, (each) => context.getModuleInfo(each)?.importedIds ?? [])
      return isIn(id) && (needed.has(id) || id.startsWith('\0rolldown')) ? name : null
    }
  return [
    { name: nameOf('libraries', isLibrary), debugName: 'libraries of the first screen', priority: 2 },
    { name: nameOf('app', (id) => !isLibrary(id)), debugName: 'first screen', priority: 1 },
  ]
}

/** Has Chromium compile these files whole, beside the main thread, while they come: most of what is in them runs at the start, and
 * would be compiled there, one function after the other. The mark has to stand before everything else. */
export async function compileAtOnce(assets: string): Promise<void> {
  const names = (await readdir(assets)).filter((name) => /^(app|libraries)-.*\.js$/.test(name))
  for (const path of names.map((name) => join(assets, name)))
    await writeFile(path, `//# allFunctionsCalledOnLoad\n${await readFile(path, 'utf8')}`)
}

function importedFrom(
  entries: readonly string[],
  importsOf: (id: string) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>()
  const left = [...entries]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (found.has(id)) continue
    found.add(id)
    left.push(...importsOf(id))
  }
  return found
}
