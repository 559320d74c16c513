import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  isLive,
  isReadableBy,
  isSilencedTo,
  type ReadableTables,
  type Viewer,
} from '#features/relations/index.ts'
import type { FileTables } from '../file-store.ts'
import { isBeingRemoved, isDiscarded, isInTrash } from '../folders/folder-change-predicate.ts'
import { folderAbove, foldersAbove } from '../folders/folders-above-predicate.ts'
import {
  adminLevel,
  type FileKey,
  type FileLevel,
  type FileViewer,
  readLevel,
  writeLevel,
} from './file-viewer.ts'

/** The columns of other features' tables on which access to files depends. */
export type AccessTables = FileTables &
  ReadableTables & {
    action_attachments: { tenant_id: number; file_id: string; action_id: string; issuer_tag: string }
    shares: {
      share_id: number
      tenant_id: number
      resource_id: string
      subject_type: string
      subject_id: string
      permission: string
      expires_at: number | null
      is_derived: number
    }
  }

/** What stands for the viewer, the tenant and the time: placeholders in prepared statements, values otherwise. */
export interface AccessNames {
  readonly tenantId: Expression<number>
  readonly viewerTag: Expression<string>
  readonly tenantTag: Expression<string>
  readonly now: Expression<number>
  /** Only the shares count on which this one rests. */
  readonly basesOf?: Expression<number>
  /** Neither this share counts nor what rests on it. */
  readonly apartFrom?: Expression<number>
  /** It is known that no folder is being changed. */
  readonly withoutChanges?: true
  /** A table of all to which shares, references or keys may give access, with the folders in it; others are not asked. */
  readonly granted?: RawBuilder<unknown>
}

/** Values of `is_derived` for shares that count for nothing until it is known whether anything founds them: not looked
 * at yet, and founded by nothing that counts so far. */
export const doubtMarks = { waiting: 2, unfounded: 3 } as const

type Condition = RawBuilder<SqlBool>
type Level = RawBuilder<number>

/** The level of a viewer on each row of `files`, a `FileLevel`. The one place where access to files is decided
 * (docs/protocol/file-life.md, Who may): lists, single reads and writes compare this number. */
export function accessLevel(who: FileViewer, names: AccessNames): Level {
  const level = levelOf(who, names)
  if (!who.limits) return level
  const { everywhere, single } = who.limits
  if (single.length === 0 && everywhere > 0) return atMost(everywhere, level)
  const limit = limitOf(who.limits, names)
  // What everybody may do needs no token, and so no width of it.
  const open = accessLevel(everybody(who.viewer), names)
  return sql<number>`case when ${limit} = 0 then ${open} when ${limit} < ${level} then ${limit} else ${level} end`
}

/** The viewer may read the row of `files`. */
export function isReadableFile(who: FileViewer, names: AccessNames): Condition {
  // A token that lets read everything takes nothing away from reading.
  const asked = who.limits && who.limits.everywhere > 0 ? { ...who, limits: undefined } : who
  return sql<SqlBool>`${accessLevel(asked, names)} >= ${sql.lit(readLevel)}`
}

// Each of these names `level` once: it may be a climb through a tree.
function atMost(limit: FileLevel, level: Level): Level {
  switch (limit) {
    case adminLevel:
      return level
    case writeLevel:
      return sql<number>`coalesce(nullif(${level}, ${sql.lit(adminLevel)}), ${sql.lit(writeLevel)})`
    default:
      return sql<number>`case when ${level} > 0 then ${sql.lit(readLevel)} else 0 end`
  }
}

function levelOf(who: FileViewer, names: AccessNames): Level {
  const { viewer } = who
  const isOver = sql<SqlBool>`files.expires_at <= ${names.now}`
  const isGone = names.withoutChanges ? sql<SqlBool>`false` : isBeingRemoved('files', names.tenantId)
  if (viewer.facts.has('acts-as-tenant'))
    return sql<number>`case when ${isOver} or ${isGone} then 0 else ${sql.lit(adminLevel)} end`
  const owned = isOwnedBy('files', viewer, names)
  // Whoever no longer contributes to a community still reads what they made.
  const ownedLevel = viewer.facts.has('connected') ? adminLevel : readLevel
  const isTrashed = inTrash('files', names)
  const level = sql<number>`case when ${isOver} or ${isGone} then 0 when ${owned} and ${sql.lit(ownedLevel)} > ${sql.lit(readLevel)} then ${sql.lit(ownedLevel)}
    when ${isTrashed} and ${isDiscarded('files', names.tenantId)} then 0
    when ${mayBeGranted(who, names)} then ${grantedLevel(who, names)}
    when ${owned} or ${isReadableWithoutGrant(viewer, 'files', names)} then ${sql.lit(readLevel)} else 0 end`
  // A file in the trash is there only for those who may take it out.
  return sql<number>`coalesce(nullif(${level}, case when ${isTrashed} then ${sql.lit(readLevel)} else 0 end), 0)`
}

/** The row of `file` is in the trash. */
export function inTrash(file: string, { tenantId, withoutChanges }: AccessNames): Condition {
  return withoutChanges ? sql<SqlBool>`${sql.ref(`${file}.status`)} = 'D'` : isInTrash(file, tenantId)
}

/** By the file's own visibility, where the server has not silenced its owner, or by an action in which its owner shows
 * it; not by a grant. The tenant's own files are shown by actions made here, which only those make who may attach them; a
 * copy by actions of the identity that it came from. Actions of others, who need only know an id, do not count.
 * NOTE: SQLite keeps the order of a cross join; else it may look at all actions that the viewer may read for each file. */
function isReadableWithoutGrant(viewer: Viewer, file: string, names: AccessNames): Condition {
  const of = (column: string) => sql.ref(`${file}.${column}`)
  const isSilenced = isSilencedTo(viewer, of('owner_tag'))
  return sql<SqlBool>`((coalesce(${of('visibility')} in (${codesOf(viewer)}), false) and not ${isSilenced})
    or exists (select 1 from action_attachments as attached cross join actions
      where actions.tenant_id = attached.tenant_id and actions.action_id = attached.action_id
      and attached.tenant_id = ${of('tenant_id')} and attached.file_id = ${of('file_id')}
      and ${isShownBy('attached.issuer_tag', file, names.tenantTag)} and ${isLive('actions', names.now)} and ${isReadableBy(viewer, 'actions', names)}))`
}

/** The actions of this issuer show the file to their readers. */
export function isShownBy(issuer: string, file: string, tenantTag: Expression<string>): Condition {
  const of = (column: string) => sql.ref(`${file}.${column}`)
  return sql<SqlBool>`${sql.ref(issuer)} = case when ${of('is_copy')} = 1 then ${of('owner_tag')} else ${tenantTag} end`
}

/** The visibilities with which the viewer reads, as a list. */
export function codesOf({ facts }: Viewer): RawBuilder<unknown> {
  const codes = [
    'P',
    ...(facts.has('identified') ? ['V'] : []),
    ...(facts.has('follows') ? ['F'] : []),
    ...(facts.has('connected') ? ['C'] : []),
  ]
  return sql.join(codes.map((code) => sql.lit(code)))
}

/** Whose it is; nobody's, where it is a copy. */
function isOwnedBy(file: string, viewer: Viewer, { viewerTag }: AccessNames): Condition {
  if (viewer.idTag === undefined) return sql<SqlBool>`false`
  const of = (column: string) => sql.ref(`${file}.${column}`)
  return sql<SqlBool>`(${of('is_copy')} = 0 and ${of('owner_tag')} = ${viewerTag})`
}

/** Asked once for all rows: most tenants share nothing with most viewers. */
function mayBeGranted({ viewer, held }: FileViewer, names: AccessNames): Condition {
  const { tenantId, viewerTag, granted } = names
  if (granted) return isNear(granted)
  if (held.length > 0) return sql<SqlBool>`true`
  const toCrowds = sql<SqlBool>`exists (select 1 from shares where tenant_id = ${tenantId} and subject_type = 'F')`
  if (viewer.idTag === undefined) return toCrowds
  return sql<SqlBool>`(${toCrowds} or exists (select 1 from shares
    where tenant_id = ${tenantId} and subject_type = 'U' and subject_id = ${viewerTag}))`
}

/** The file is in this table, or the folder in which it lies or lay. */
function isNear(table: RawBuilder<unknown>): Condition {
  const ids = sql`(select file_id from ${table})`
  return sql<SqlBool>`(files.file_id in ${ids} or coalesce(${folderAbove('files', 'lay')} in ${ids}, false))`
}

/** The highest level that shares and held references give on a file or on a folder above it, or reading without them. */
function grantedLevel(who: FileViewer, names: AccessNames): Level {
  const given = levelOfKeys(who.held, 'reached.file_id')
  return sql<number>`(
    with recursive ${reachedFiles(sql`select files.file_id, 0, 0`, names)}
    select max(case
      when ${given} > 0 then ${carried(given)}
      when person.permission is not null then ${carried(permissionLevel('person'))}
      when (reached.is_subject = 1 or reached.file_id = files.file_id) and ${readsReached(who, names)}
        then case reached.is_subject when 1 then reached.level else ${sql.lit(readLevel)} end
      else 0 end)
    from reached
    join files as node on node.tenant_id = ${names.tenantId} and node.file_id = reached.file_id
    left join shares as person on person.tenant_id = ${names.tenantId} and person.resource_id = node.file_id
      and ${isToViewer('person', who, names)} and ${isCurrent('person', names)}
    where ${isNoLostSubject(names)}
  )`
}

/** `reached`: what gives access to a file. It climbs from the file to its folders, and from a share with the readers of
 * another file to that file; `level` is what such a share gives, 0 until the first. What another owner shared is not
 * given on by the folder that it is put in, and is no subject: who reads a copy is said by actions from elsewhere. */
export function reachedFiles(start: RawBuilder<unknown>, names: AccessNames): RawBuilder<unknown> {
  return sql`reached(file_id, is_subject, level) as (
      ${start}
      union
      select case edge.kind when 0 then ${folderOf('node')} else reader_share.subject_id end,
        edge.kind, case edge.kind when 0 then reached.level else ${carried(permissionLevel('reader_share'))} end
      from reached
      join files as node on node.tenant_id = ${names.tenantId} and node.file_id = reached.file_id
      cross join (select 0 as kind union all select 1 as kind) as edge
      left join shares as reader_share on edge.kind = 1 and reader_share.tenant_id = ${names.tenantId}
        and reader_share.resource_id = node.file_id and reader_share.subject_type = 'F' and ${isCurrent('reader_share', names)}
      where ${isNoLostSubject(names)}
        and (edge.kind = 1 or ${folderOf('node')} is not null)
        and (edge.kind = 0 or reader_share.subject_id is not null)
    )`
}

/** The row of `reached`, joined to its file `node`, may be passed. */
export function isNoLostSubject(names: AccessNames): Condition {
  return sql<SqlBool>`(reached.is_subject = 0 or (not ${inTrash('node', names)} and node.is_copy = 0))`
}

/** The folder whose shares are a file's as well, or null. */
export function folderOf(file: string): RawBuilder<string | null> {
  return sql`case when ${sql.ref(`${file}.is_copy`)} = 0 then ${folderAbove(file, 'lay')} end`
}

/** The viewer reads the file `node` without a share. */
export function readsReached({ viewer }: FileViewer, names: AccessNames): Condition {
  return sql<SqlBool>`(${isOwnedBy('node', viewer, names)} or ${isReadableWithoutGrant(viewer, 'node', names)})`
}

/** A share with the viewer in person. */
export function isToViewer(share: string, { viewer }: FileViewer, { viewerTag }: AccessNames): Condition {
  // The names are the caller's also where nobody is asked about.
  if (viewer.idTag === undefined) return sql<SqlBool>`false`
  return sql<SqlBool>`(${sql.ref(`${share}.subject_type`)} = 'U' and ${sql.ref(`${share}.subject_id`)} = ${viewerTag})`
}

function carried(level: Level): Level {
  return sql<number>`case reached.level when 0 then ${level} else reached.level end`
}

/** A share that counts now. */
export function isCurrent(share: string, { tenantId, now, basesOf, apartFrom }: AccessNames): Condition {
  const of = (column: string) => sql.ref(`${share}.${column}`)
  const isBase = basesOf
    ? sql`and ${of('share_id')} in (select base_id from share_bases where tenant_id = ${tenantId} and share_id = ${basesOf})`
    : sql``
  const isApart = apartFrom
    ? sql`and ${of('share_id')} <> ${apartFrom} and ${of('share_id')} not in (${restingOn(tenantId, sql`= ${apartFrom}`)})`
    : sql``
  return sql<SqlBool>`((${of('expires_at')} is null or ${of('expires_at')} > ${now})
    and ${of('is_derived')} < ${sql.lit(doubtMarks.waiting)} ${isBase} ${isApart})`
}

/** The ids of the shares that rest on some, by however many others. `isBase` is what follows an id that is among those.
 * NOTE: SQLite keeps the order of a cross join; else it reads all bases of the tenant for each share. */
export function restingOn(tenantId: Expression<number>, isBase: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`with recursive resting(share_id) as (
    select share_id from share_bases where tenant_id = ${tenantId} and base_id ${isBase}
    union select above.share_id from resting cross join share_bases as above
      where above.tenant_id = ${tenantId} and above.base_id = resting.share_id
    ) select share_id from resting`
}

/** The level that a share gives. */
export function permissionLevel(share: string): Level {
  return sql<number>`case ${sql.ref(`${share}.permission`)} when 'A' then 3 when 'W' then 2 else 1 end`
}

function levelOfKeys(keys: readonly FileKey[], column: string): Level {
  if (keys.length === 0) return sql<number>`0`
  const cases = keys.map(({ fileId, level }) => sql`when ${fileId} then ${sql.lit(level)}`)
  return sql<number>`case ${sql.ref(column)} ${sql.join(cases, sql` `)} else 0 end`
}

/** How far a narrowed token goes on a file: by its areas, and by what it says of the file or of a folder above it. */
function limitOf(limits: NonNullable<FileViewer['limits']>, names: AccessNames): Level {
  const { everywhere, single } = limits
  const { tenantId } = names
  if (single.length === 0) return sql<number>`${sql.lit(everywhere)}`
  const level = levelOfKeys(single, 'above.file_id')
  const limit = sql<number>`(
    with recursive ${foldersAbove('files', { tenantId, link: 'lay' })}
    select max(case when ${level} > ${sql.lit(everywhere)} then ${level} else ${sql.lit(everywhere)} end) from above)`
  return names.granted
    ? sql`case when ${isNear(names.granted)} then ${limit} else ${sql.lit(everywhere)} end`
    : limit
}

// What holds for every viewer of a tenant.
const ofTenant = ['community', 'silences-no-identity', 'silences-no-domain']

/** Whoever comes without a token. */
export function everybody({ tenantTag, facts }: Viewer): FileViewer {
  const known: Viewer['facts'] = new Set([...facts].filter((fact) => ofTenant.includes(fact)))
  const limits = { everywhere: readLevel, single: [] } as const
  return { viewer: { tenantTag, idTag: undefined, facts: known }, held: [], limits }
}
