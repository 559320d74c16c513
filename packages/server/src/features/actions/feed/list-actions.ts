import {
  type Action,
  decodeCursor,
  encodeCursor,
  maxTotal,
  type Page,
  parseActionId,
  parseTag,
} from '@kith/protocol'
import { findViewer, type Viewer } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import type { ShowDeps } from '../action-ports.ts'
import { actionView } from '../action-view.ts'
import { type ActionFilter, type ActionPlace, visibleStatuses } from './action-filter.ts'
import type { FeedRow } from './feed-query-store.ts'
import { countFeed, findActionPlace, listFeed } from './feed-store.ts'
import { listUnread, putReads } from './reader-store.ts'
import { type Shown, showActions } from './show-actions.ts'

export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

interface ListRequest {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly filter: ActionFilter
  readonly direction?: 'asc' | 'desc' | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly offset?: number | undefined
}

const sortName = 'created'
const defaultLimit = 20
const daySecs = 86_400

/** A page of the actions that the tenant holds and the caller may read. */
export function listActions(deps: ShowDeps, request: ListRequest): Promise<Page<Outgoing<Action>>> {
  return listAs(deps, request, (reader, shown) => showActions(deps, reader, shown))
}

/** The same without the files that are attached. */
export function listWithoutFiles(deps: ReadDeps, request: ListRequest): Promise<Page<Outgoing<Action>>> {
  return listAs(deps, request, async (_, { rows, showsMarks }) =>
    rows.map((row) => actionView(row, showsMarks)),
  )
}

type Show = (reader: Reader, shown: Shown) => Promise<Outgoing<Action>[]>

async function listAs(deps: ReadDeps, request: ListRequest, show: Show): Promise<Page<Outgoing<Action>>> {
  const { tenant, caller, direction = 'desc', limit = defaultLimit, offset } = request
  const { types, tag } = request.filter
  // Text that cannot be a tag is in no index, and finds nothing.
  const asked = tag === undefined ? undefined : (parseTag(tag) ?? tag)
  const filter = { ...request.filter, types: distinct(types), tag: asked }
  assertNamesSome(filter)
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller)
  const after = request.cursor === undefined ? undefined : await findPlace(reader, request.cursor, direction)
  const now = nowSecs(deps.clock)
  const query = { viewer, filter, now, order: { direction, limit, after, offset } }
  const rows = await listFeed(reader, query)
  const showsMarks = visibleStatuses(viewer, filter.statuses).any.includes('N')
  const shown = rows.slice(0, limit)
  await noteRead(deps, reader, { viewer, filter, shown })
  const items = await show(reader, { tenant, rows: shown, showsMarks })
  if (offset !== undefined) return { items, total: await countFeed(reader, query, maxTotal), offset, limit }
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const nextCursor = last ? encodeCursor({ s: sortName, v: last.created_at, id: last.action_id }) : null
  return { items, nextCursor }
}

/** An empty list of types or statuses is a mistake of the caller; it does not mean all. */
function assertNamesSome({ types, statuses }: ActionFilter): void {
  if (types?.length === 0) throw invalid('/query/type', 'names no type')
  if (statuses?.length === 0) throw invalid('/query/status', 'names no status')
}

function distinct(types: readonly string[] | undefined): readonly string[] | undefined {
  return types && [...new Set(types)]
}

/** Listing the comments on an action marks those on the page as read. */
async function noteRead(
  deps: ReadDeps,
  reader: Reader,
  {
    viewer: { idTag: readerTag },
    filter,
    shown,
  }: { readonly viewer: Viewer; readonly filter: ActionFilter; readonly shown: readonly FeedRow[] },
): Promise<void> {
  const isThread = filter.parentId !== undefined || filter.rootId !== undefined
  if (!isThread || readerTag === undefined) return
  const comments = shown.flatMap(({ type, action_id: commentId, parent_id: parentId }) =>
    type === 'CMNT' && parentId !== null ? [{ commentId, parentId }] : [],
  )
  const unread = await listUnread(reader, readerTag, comments)
  const day = Math.floor(nowSecs(deps.clock) / daySecs)
  if (unread.length > 0)
    await deps.db.transact(reader.tenantId, (tx) => putReads(tx, { readerTag, day }, unread))
}

// The largest sequence number that the search index can hold.
const maxSeq = 2 ** 30 - 1

/** The place that a cursor names. A cursor has no sequence number, which would disclose how much the whole server
 * writes. If its id names no action, or one whose time has changed, the whole second is shown again rather than left
 * out. */
async function findPlace(reader: Reader, text: string, direction: 'asc' | 'desc'): Promise<ActionPlace> {
  const cursor = decodeCursor(text, sortName)
  if (!cursor || !Number.isSafeInteger(cursor.v))
    throw invalid('/query/cursor', 'is not a cursor of this list')
  const createdAt = Number(cursor.v)
  const actionId = parseActionId(String(cursor.id))
  const place = actionId && (await findActionPlace(reader, actionId))
  if (place?.createdAt === createdAt) return place
  return { createdAt, seq: direction === 'desc' ? maxSeq : 0 }
}
