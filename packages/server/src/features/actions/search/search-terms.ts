import { createHash } from 'node:crypto'
import { type IdTag, isUnspacedWord } from '@kith/protocol'
import type { Viewer } from '#features/relations/index.ts'
import type { StoredAction } from '../action.ts'
import { type ActionFilter, isVisitor } from '../feed/action-filter.ts'
import { tagsOf } from '../tags.ts'
import { searchTextOf, searchWords } from './search-text.ts'

/** The terms of the search index. Each begins with the tenant, so that a search reads terms of its own tenant only.
 * Besides its words an action has marks for what lists filter by, so that filters narrow a search within the index.
 * Words consist of letters, marks and digits; marks and tenants are written in private-use characters, which no word
 * contains. */

const firstPrivate = 0xe000
const privateCount = 6400
// Tenants are numbered from 1, in the order of their creation.
const maxTenants = privateCount ** 2
/** The number of characters before the word in each term. */
export const tenantCharacters = 2

const kinds = ['public', 'type', 'issuer', 'recipient', 'subject', 'parent', 'root', 'tag', 'page'] as const
type MarkKind = (typeof kinds)[number]

/** The members of an action that the index uses. */
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

/** The terms that an action is found by; none when it has no words. */
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
  /** An action must have all of these, as whole words or as beginnings of words. */
  readonly words: readonly { readonly term: string; readonly isBeginning: boolean }[]
  /** And at least one of each group. Different names may have the same mark, so the filters themselves are checked as
   * well. */
  readonly marks: readonly (readonly string[])[]
}

/** A search, with its filter and its viewer. */
export interface Sought {
  readonly search: string
  readonly filter: ActionFilter
  readonly viewer: Viewer
}

/** Undefined when nothing can be found, because the search has no words. */
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

/** A single letter is searched as a whole word, because most actions have words that begin with it; unless it is a
 * syllable, to which others are added without a space. */
function isBeginning(word: string): boolean {
  return isUnspacedWord(word) || /^\p{sc=Hang}/u.test(word) || [...word].length > 1
}

function single(kind: MarkKind, name: string | undefined): [MarkKind, string][][] {
  return name === undefined ? [] : [[[kind, name]]]
}

/** Guests find public actions, visitors of a person what its page shows and what names them. */
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

/** One character for the kind and, when there is a name, three for 38 bits of its SHA-256. */
function markOf(kind: MarkKind, name: string): string {
  const hash = createHash('sha256').update(name).digest()
  const part = (at: number) => privateCharacter(hash.readUInt32BE(4 * at) % privateCount)
  return privateCharacter(kinds.indexOf(kind)) + (name === '' ? '' : part(0) + part(1) + part(2))
}

function privateCharacter(number: number): string {
  return String.fromCharCode(firstPrivate + number)
}
