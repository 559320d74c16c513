import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** A folder of `infra` or `features`, as its own files show it. */
export interface Room {
  readonly name: string
  /** Rooms of the same layer whose doors its files import. */
  readonly imports: readonly string[]
  /** Rooms of `infra` whose doors its files import; of a room of `infra`, the same as `imports`. */
  readonly infra: readonly string[]
  /** The tables that it makes and does not drop. */
  readonly tables: readonly string[]
}

const source = resolve(import.meta.dirname, '../../packages/server/src')

/** The rooms of a layer in the order of their names. */
export function roomsOf(layer: 'infra' | 'features'): Room[] {
  const folders = readdirSync(join(source, layer), { withFileTypes: true })
  return folders
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => roomOf(layer, name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function roomOf(layer: 'infra' | 'features', name: string): Room {
  const files = readdirSync(join(source, layer, name), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name),
  )
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  const made = namesIn(texts, /\bcreateTable\(\s*'(\w+)'|\bcreate (?:virtual )?table (?!if )(\w+)/g)
  const dropped = namesIn(texts, /\bdropTable\(\s*'(\w+)'/g)
  // A table that is built anew is made by another name, and takes the name of the one that is dropped.
  const [renamed, kept] = [/\balter table (\w+) rename to/g, /\balter table \w+ rename to (\w+)/g].map(
    (form) => namesIn(texts, form),
  ) as [string[], string[]]
  const gone = new Set([...dropped.filter((table) => !kept.includes(table)), ...renamed])
  const importsFrom = (other: string) =>
    namesIn(texts, new RegExp(`(?:from |import\\()'#${other}/([\\w-]+)/`, 'g')).filter(
      (room) => room !== name || other !== layer,
    )
  return {
    name,
    imports: importsFrom(layer),
    infra: importsFrom('infra'),
    tables: [...new Set([...made, ...kept])].sort().filter((table) => !gone.has(table)),
  }
}

function namesIn(texts: readonly string[], pattern: RegExp): string[] {
  const names = texts.flatMap((text) =>
    [...text.matchAll(pattern)].map(([, one, other]) => one ?? other ?? ''),
  )
  return [...new Set(names)].sort()
}

/** The imports of each room without those that another import brings along: few enough arrows to be followed. */
export function directImports(rooms: readonly Room[]): [from: string, to: string][] {
  const byName = new Map(rooms.map((room) => [room.name, room]))
  const reaches = (from: string, to: string): boolean =>
    byName.get(from)?.imports.some((next) => next === to || reaches(next, to)) ?? false
  return rooms.flatMap(({ name, imports }) =>
    imports
      .filter((target) => !imports.some((other) => other !== target && reaches(other, target)))
      .map((target): [string, string] => [name, target]),
  )
}
