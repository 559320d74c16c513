import { type Action, decodeCursor, encodeCursor, maxActionOffset, type Page } from '@kith/protocol'
import { findViewer, type Viewer } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { type ActionFilter, type ActionPlace, visibleStatuses } from './action-filter.ts'
import { actionView } from './action-view.ts'
import { countFeed, listFeed } from './feed-store.ts'
import { findUnread, putRead } from './reader-store.ts'

export interface ReadDeps {
  readonly db: Database
  readonly clock: Clock
}

export interface ListRequest {
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
// As far as an offset reaches: counting what lies beyond would cost more than all pages before it.
const maxCounted = maxActionOffset + 200

/** A page of what the tenant holds and the caller may read. */
export async function listActions(deps: ReadDeps, request: ListRequest): Promise<Page<Outgoing<Action>>> {
  const { tenant, caller, direction = 'desc', limit = defaultLimit, offset } = request
  const filter = { ...request.filter, types: distinct(request.filter.types) }
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller)
  const after = request.cursor === undefined ? undefined : placeOf(request.cursor)
  const now = nowSecs(deps.clock)
  const query = { viewer, filter, now, order: { direction, limit, after, offset } }
  const rows = await listFeed(reader, query)
  await noteRead(deps, reader, viewer, filter)
  const showsMarks = visibleStatuses(viewer, filter.statuses).any.includes('N')
  const items = rows.slice(0, limit).map((row) => actionView(row, showsMarks))
  if (offset !== undefined) return { items, total: await countFeed(reader, query, maxCounted), offset, limit }
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const nextCursor = last ? encodeCursor({ s: sortName, v: last.created_at, id: last.seq }) : null
  return { items, nextCursor }
}

function distinct(types: readonly string[] | undefined): readonly string[] | undefined {
  return types && [...new Set(types)]
}

/** Whoever lists the comments on an action has read those there are. */
async function noteRead(deps: ReadDeps, reader: Reader, viewer: Viewer, filter: ActionFilter): Promise<void> {
  const actionId = filter.parentId ?? filter.rootId
  const { idTag: readerTag } = viewer
  if (actionId === undefined || readerTag === undefined) return
  const comments = await findUnread(reader, { actionId, readerTag })
  if (comments === undefined) return
  await deps.db.transact(reader.tenantId, (tx) => putRead(tx, { actionId, readerTag, comments }))
}

function placeOf(text: string): ActionPlace {
  const cursor = decodeCursor(text, sortName)
  if (!Number.isSafeInteger(cursor?.v) || !Number.isSafeInteger(cursor?.id))
    throw invalid('/query/cursor', 'is not a cursor of this list')
  return { createdAt: Number(cursor?.v), seq: Number(cursor?.id) }
}
