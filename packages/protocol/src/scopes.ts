import { type FileId, parseFileId } from './ids.ts'

export const scopeAreas = [
  'files',
  'actions',
  'profile',
  'refs',
  'collections',
  'settings',
  'apps',
  'notifications',
  'idp',
  'keys',
] as const
export type ScopeArea = (typeof scopeAreas)[number]

export const accessLevels = ['read', 'write', 'admin'] as const
export type AccessLevel = (typeof accessLevels)[number]

/** What an endpoint needs of a narrowed token. */
export type ScopeRequirement = `${AccessLevel}:${ScopeArea}`

type AreaItem = { readonly level: AccessLevel; readonly area: ScopeArea | '*' }
type FileItem = { readonly level: 'read' | 'write'; readonly fileId: FileId }
export type ScopeItem = AreaItem | FileItem

/** A parsed scope; `undefined` in its place means the full authority of the identity. */
export type Scope = readonly ScopeItem[]

const maxScopeItems = 64

/** Parses comma- or space-separated items (docs/protocol/credentials.md). Undefined when any item is unknown. */
export function parseScope(text: string): Scope | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 0 || words.length > maxScopeItems) return undefined
  const items = words.map(parseItem)
  return items.every((item) => item !== undefined) ? items : undefined
}

function parseItem(word: string): ScopeItem | undefined {
  const file = /^file:(.+):(read|write)$/.exec(word)
  if (file) {
    const fileId = parseFileId(file[1] ?? '')
    return fileId && { fileId, level: file[2] === 'write' ? 'write' : 'read' }
  }
  const [levelWord, areaWord, rest] = word.split(':')
  const level = accessLevels.find((known) => known === levelWord)
  if (!level || rest !== undefined) return undefined
  if (areaWord === undefined) return { level, area: '*' }
  const area = scopeAreas.find((known) => known === areaWord)
  return area && { level, area }
}

/** The text that tokens carry. A scope without items allows nothing and has no text: an empty one would be read as none. */
export function formatScope(scope: Scope): string {
  if (scope.length === 0) throw new TypeError('a scope without items cannot be written')
  return scope.map(formatItem).join(' ')
}

function formatItem(item: ScopeItem): string {
  if ('fileId' in item) return `file:${item.fileId}:${item.level}`
  return item.area === '*' ? item.level : `${item.level}:${item.area}`
}

/** Does `held` (undefined = everything) satisfy what an endpoint requires? `write` includes `read`, `admin` both. */
export function scopeAllows(held: Scope | undefined, requirement: ScopeRequirement): boolean {
  if (held === undefined) return true
  const [level, area] = requirement.split(':') as [AccessLevel, ScopeArea]
  return held.some((item) => covers(item, { level, area }))
}

/** What a scope allows with a single file that it names. */
export function fileLevelOf(held: Scope, fileId: string): 'read' | 'write' | undefined {
  const levels = held.flatMap((item) => ('fileId' in item && item.fileId === fileId ? item.level : []))
  return levels.includes('write') ? 'write' : levels[0]
}

/** What both scopes allow: a scope can only narrow. */
export function intersectScopes(held: Scope | undefined, asked: Scope | undefined): Scope | undefined {
  if (held === undefined) return asked
  if (asked === undefined) return held
  const items = asked.flatMap((want) => held.flatMap((have) => narrower(have, want) ?? []))
  return [...new Map(items.map((item) => [formatItem(item), item])).values()]
}

function narrower(have: ScopeItem, want: ScopeItem): ScopeItem | undefined {
  const level = rank(have.level) < rank(want.level) ? have.level : want.level
  if ('fileId' in want) {
    const sameFile =
      'fileId' in have ? have.fileId === want.fileId : have.area === '*' || have.area === 'files'
    return sameFile ? { fileId: want.fileId, level: level === 'read' ? 'read' : 'write' } : undefined
  }
  if ('fileId' in have) {
    const reaches = want.area === '*' || want.area === 'files'
    return reaches ? { fileId: have.fileId, level: level === 'read' ? 'read' : 'write' } : undefined
  }
  if (have.area === '*') return { level, area: want.area }
  return want.area === '*' || want.area === have.area ? { level, area: have.area } : undefined
}

function covers(held: ScopeItem, wanted: AreaItem): boolean {
  if ('fileId' in held) return false
  return (held.area === '*' || held.area === wanted.area) && rank(held.level) >= rank(wanted.level)
}

function rank(level: AccessLevel): number {
  return accessLevels.indexOf(level)
}
