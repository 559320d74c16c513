import { createHash } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import type { Viewer } from '#features/relations/index.ts'
import type { StoredAction } from '../action.ts'
import { tagsOf } from '../tags.ts'
import { type ActionFilter, isVisitor } from './action-filter.ts'
import { isUnspacedWord, searchTextOf, searchWords } from './search-text.ts'

/** The terms of the index of words. Each begins with the tenant, so that a search reads terms of its own tenant alone.
 * Beside its words an action has marks: what lists filter by, so that a filter narrows a search within the index. Words
 * have letters and digits only; marks and tenants are spelled in characters of private use, which no word has. */

const firstPrivate = 0xe000
const privateCount = 6400
// Tenants are numbered from 1, in the order in which they are made.
const maxTenants = privateCount ** 2
/** Characters before a word in each of its terms. */
export const tenantCharacters = 2

const kinds = ['public', 'type', 'issuer', 'recipient', 'subject', 'parent', 'root', 'tag', 'page'] as const
type MarkKind = (typeof kinds)[number]

/** What the index has of an action. */
export type IndexedMembers = Pick<
  StoredAction,
  | 'type'
  | 'issuerTag'
  | 'audienceTag'
  | 'audience'
  | 'subject'
  | 'parentId'
  | 'rootId'
  | 'visibility'
  | 'content'
  | 'isFeedOnly'
>

/** What an action is found by; nothing where it has no words. */
export function searchTermsOf(tenantId: number, action: IndexedMembers): string[] {
  const text = searchTextOf(action.content)
  if (text === '') return []
  const code = tenantCode(tenantId)
  const { audienceTag, audience, subject, parentId, rootId, isFeedOnly = false } = action
  const mark = (kind: MarkKind, name = '') => `${code}${markOf(kind, name)}`
  return [
    ...new Set(text.split(' ').map((word) => `${code}${word}`)),
    ...(isFeedOnly ? [] : [mark('page')]),
    ...(action.visibility === 'P' && !isFeedOnly ? [mark('public')] : []),
    mark('type', action.type),
    mark('issuer', action.issuerTag),
    ...[...new Set([audienceTag, ...audience])].flatMap((idTag) => (idTag ? [mark('recipient', idTag)] : [])),
    ...(subject === undefined ? [] : [mark('subject', subject)]),
    ...(parentId === undefined ? [] : [mark('parent', parentId)]),
    ...(rootId === undefined ? [] : [mark('root', rootId)]),
    ...tagsOf(action.content).map((tag) => mark('tag', tag)),
  ]
}

/** A search in terms of the index. */
export interface SoughtTerms {
  /** An action has all of these, as whole words or as beginnings of words. */
  readonly words: readonly { readonly term: string; readonly isBeginning: boolean }[]
  /** And of each of these at least one. Different names may have one mark: the filters themselves are asked as well. */
  readonly marks: readonly (readonly string[])[]
}

/** What is looked for, by whom. */
export interface Sought {
  readonly search: string
  readonly filter: ActionFilter
  readonly viewer: Viewer
}

/** Undefined where nothing can be found: no words are asked for. */
export function soughtTerms(tenantId: number, { search, filter, viewer }: Sought): SoughtTerms | undefined {
  const words = searchWords(search)
  if (words.length === 0) return undefined
  const code = tenantCode(tenantId)
  const { types, issuer, audience, involved, subject, parentId, rootId, tag } = filter
  const groups: [MarkKind, string][][] = [
    ...shownMarks(viewer),
    ...(types ? [types.map((type): [MarkKind, string] => ['type', type])] : []),
    ...single('issuer', issuer),
    ...single('recipient', audience),
    ...(involved === undefined ? [] : [involvedMarks(involved)]),
    ...single('subject', subject),
    ...single('parent', parentId),
    ...single('root', rootId),
    ...single('tag', tag),
  ]
  return {
    words: words.map((word) => ({ term: `${code}${word}`, isBeginning: isBeginning(word) })),
    marks: groups.map((group) => group.map(([kind, name]) => `${code}${markOf(kind, name)}`)),
  }
}

/** One letter alone is looked for as a word: most actions have words that begin with it. */
function isBeginning(word: string): boolean {
  return isUnspacedWord(word) || [...word].length > 1
}

function single(kind: MarkKind, name: string | undefined): [MarkKind, string][][] {
  return name === undefined ? [] : [[[kind, name]]]
}

/** Guests find what is public; visitors of a person what its page shows, and what names them. */
function shownMarks(viewer: Viewer): [MarkKind, string][][] {
  if (viewer.idTag === undefined) return [[['public', '']]]
  return isVisitor(viewer) ? [[['page', ''], ...involvedMarks(viewer.idTag)]] : []
}

function involvedMarks(idTag: IdTag): [MarkKind, string][] {
  return [
    ['issuer', idTag],
    ['recipient', idTag],
    ['subject', idTag],
  ]
}

function tenantCode(tenantId: number): string {
  if (tenantId >= maxTenants) throw new RangeError(`The index of words has no term for tenant ${tenantId}`)
  return privateCharacter(Math.floor(tenantId / privateCount)) + privateCharacter(tenantId % privateCount)
}

/** Four characters: the kind, and 38 bits of the name's SHA-256. */
function markOf(kind: MarkKind, name: string): string {
  const hash = createHash('sha256').update(name).digest()
  const part = (at: number) => privateCharacter(hash.readUInt32BE(4 * at) % privateCount)
  return privateCharacter(kinds.indexOf(kind)) + (name === '' ? '' : part(0) + part(1) + part(2))
}

function privateCharacter(number: number): string {
  return String.fromCharCode(firstPrivate + number)
}
