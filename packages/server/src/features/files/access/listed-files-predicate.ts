import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { changingTable, discardedTable, listed } from '../folders/folder-change-predicate.ts'
import {
  type AccessNames,
  codesOf,
  everybody,
  isCurrent,
  isOwnedBy,
  isReadableWithoutGrant,
  permissionLevel,
} from './file-access-predicate.ts'
import type { FileViewer } from './file-viewer.ts'

/** A table that a list reads once, whatever number of files it looks at. */
export interface ListTable {
  readonly name: string
  readonly query: RawBuilder<never>
}

type Condition = Expression<SqlBool>

/** The same files as `isReadableFile` says, for whoever looks at many: what is given to the viewer is followed down to
 * the folders once, instead of climbing from each file. `file-access-model.test.ts` holds the two together. */
export function readableInLists(
  who: FileViewer,
  names: AccessNames,
): { readonly tables: readonly ListTable[]; readonly isReadable: Condition } {
  if (!isNarrowed(who)) {
    const tables = isTenant(who) ? [] : [discardedTable(names.tenantId), ...grantTables(who, names, '')]
    return { tables: [changingTable(names.tenantId), ...tables], isReadable: isReadable(who, names, '') }
  }
  // What everybody may do needs no token, and so no width of it.
  const open = everybody(who.viewer)
  const tables = [
    changingTable(names.tenantId),
    discardedTable(names.tenantId),
    ...(isTenant(who) ? [] : grantTables(who, names, '')),
    ...grantTables(open, names, 'open_'),
    { name: 'within(file_id)', query: foldersWithin(who, names) },
  ]
  const isWithin = liesIn(sql`(select file_id from within)`, 'with copies')
  const isOpen = isReadable(open, names, 'open_')
  return {
    tables,
    isReadable: sql<SqlBool>`(${isWithin} and ${isReadable(who, names, '')} or ${isOpen})`,
  }
}

/** Every file that somebody who is not the tenant may read, and some that they may not: found by what opens files
 * instead of looking at all of them. Undefined for whoever acts for the tenant. */
export function candidatesForLists(
  who: FileViewer,
  names: AccessNames,
): { readonly tables: readonly ListTable[]; readonly query: RawBuilder<{ file_id: string }> } | undefined {
  if (isTenant(who)) return undefined
  const { tenantId, viewerTag, tenantTag } = names
  const inGranted = (
    column: 'parent_id' | 'original_parent_id',
    where = sql``,
  ) => sql`select child.file_id from granted
    cross join files as child where child.tenant_id = ${tenantId} and ${sql.ref(`child.${column}`)} = granted.file_id ${where}`
  const own = sql`select own.file_id from files as own where own.tenant_id = ${tenantId} and own.owner_tag = ${viewerTag}`
  const parts = [
    sql`select file_id from granted`,
    // Each has its index.
    inGranted('parent_id', sql`and child.status <> 'D'`),
    inGranted('parent_id', sql`and child.status = 'D'`),
    inGranted('original_parent_id'),
    ...(who.viewer.idTag === undefined ? [] : [own]),
    sql`select shown.file_id from files as shown where shown.tenant_id = ${tenantId}
      and shown.visibility in (${codesOf(who.viewer)})`,
    // What others attach is not even looked at, however much it is.
    sql`select attached.file_id from action_attachments as attached
      where attached.tenant_id = ${tenantId} and attached.issuer_tag = ${tenantTag}`,
    sql`select copy.file_id from files as copy where copy.tenant_id = ${tenantId} and copy.is_copy = 1
      and exists (select 1 from action_attachments as attached where attached.tenant_id = copy.tenant_id
        and attached.issuer_tag = copy.owner_tag and attached.file_id = copy.file_id)`,
  ]
  const tables = [changingTable(names.tenantId), ...grantTables(who, names, '')]
  return { tables, query: sql`${sql.join(parts, sql` union all `)}` }
}

function isTenant({ viewer }: FileViewer): boolean {
  return viewer.facts.has('acts-as-tenant')
}

/** A token that lets read some files by their names, and not all. */
function isNarrowed({ limits }: FileViewer): boolean {
  return limits !== undefined && limits.everywhere === 0
}

function isReadable(who: FileViewer, names: AccessNames, prefix: string): Condition {
  const isOver = sql<SqlBool>`coalesce(files.expires_at <= ${names.now}, false)`
  if (isTenant(who)) return sql<SqlBool>`not ${isOver}`
  const { viewer } = who
  const owned = isOwnedBy('files', viewer, names)
  const isThere = sql<SqlBool>`(files.status <> 'D' and not ${listed.isInChange('files')})`
  const granted = sql.ref(`${prefix}granted`)
  // A file in the trash is there only for those who may take it out.
  const ownsFully = viewer.facts.has('connected') ? owned : sql<SqlBool>`false`
  return sql<SqlBool>`(not ${isOver} and (${ownsFully} or (${isThere} and (${owned} or ${isReadableWithoutGrant(viewer, 'files', names)}))
    or (${isThere} and ${liesIn(sql`(select file_id from ${granted})`)})
    or (${liesIn(sql`(select file_id from ${granted} where level > 1)`)} and not ${listed.isDiscarded('files')})))`
}

/** It is one of these, or in a folder that is: what another owner shared is not given on by its folder. */
function liesIn(ids: RawBuilder<unknown>, copies: 'without copies' | 'with copies' = 'without copies') {
  const isReshared = copies === 'with copies' ? sql`true` : sql`files.is_copy = 0`
  return sql<SqlBool>`(files.file_id in ${ids}
    or (${isReshared} and coalesce(files.parent_id, files.original_parent_id) in ${ids}))`
}

/** What is given to the viewer: single files, and folders with the folders in them; what lies in these has their level.
 * A share with the readers of another file counts when that one is the viewer's to read. */
function grantTables(who: FileViewer, names: AccessNames, prefix: string): ListTable[] {
  const { viewer, held } = who
  const { tenantId } = names
  const [reader_shares, granted] = [sql.ref(`${prefix}reader_shares`), sql.ref(`${prefix}granted`)]
  const keys = held.map(
    ({ fileId, level }) => sql`select held.file_id, ${sql.lit(level)} from files as held
      where held.tenant_id = ${tenantId} and held.file_id = ${fileId} union all`,
  )
  const toViewer = sql`select person.resource_id, ${permissionLevel('person')} from shares as person
    where person.tenant_id = ${tenantId} and person.subject_type = 'U' and person.subject_id = ${names.viewerTag}
    and ${isCurrent('person', names)} union all`
  const reads = sql<SqlBool>`(${isOwnedBy('subject', viewer, names)} or ${isReadableWithoutGrant(viewer, 'subject', names)})`
  return [
    {
      name: `${prefix}reader_shares(via, is_direct, file_id, level)`,
      query: sql`${readerSharesVia(names, sql`subject.file_id, 1`)}
        union all ${readerSharesVia(names, sql`coalesce(subject.parent_id, subject.original_parent_id), 0`)}`,
    },
    {
      name: `${prefix}granted(file_id, level)`,
      query: sql`${sql.join(keys, sql` `)} ${viewer.idTag === undefined ? sql`` : toViewer}
        select reader_share.file_id, reader_share.level from ${reader_shares} as reader_share
          cross join files as subject where reader_share.is_direct = 1 and subject.tenant_id = ${tenantId}
            and subject.file_id = reader_share.via and ${reads}
        union
        select coalesce(folder.file_id, gone.file_id, reader_share.file_id), coalesce(reader_share.level, above.level)
        from ${granted} as above
        cross join (select 0 as kind union all select 1 as kind union all select 2 as kind) as edge
        ${foldersBelow(names, sql`and folder.is_copy = 0`, sql`and gone.is_copy = 0`)}
        left join ${reader_shares} as reader_share on edge.kind = 2 and reader_share.via = above.file_id
        where folder.file_id is not null or gone.file_id is not null or reader_share.file_id is not null`,
    },
  ]
}

/** Shares with the readers of a file of the tenant's own that is not in the trash, by that file or by the folder it is in. */
function readerSharesVia(names: AccessNames, via: RawBuilder<unknown>) {
  return sql`select ${via}, reader_share.resource_id, ${permissionLevel('reader_share')} from shares as reader_share
    cross join files as subject where reader_share.tenant_id = ${names.tenantId} and reader_share.subject_type = 'F'
    and ${isCurrent('reader_share', names)} and subject.tenant_id = ${names.tenantId}
    and subject.file_id = reader_share.subject_id and subject.status <> 'D'
    and not ${listed.isInChange('subject')} and subject.is_copy = 0`
}

function foldersWithin({ limits }: FileViewer, names: AccessNames): RawBuilder<never> {
  const keys = (limits?.single ?? []).filter(({ level }) => level > 0)
  const isKey =
    keys.length === 0
      ? sql<SqlBool>`false`
      : sql<SqlBool>`named.file_id in (${sql.join(keys.map(({ fileId }) => fileId))})`
  return sql`select named.file_id from files as named where named.tenant_id = ${names.tenantId} and ${isKey}
    union select coalesce(folder.file_id, gone.file_id) from within as above
    cross join (select 0 as kind union all select 1 as kind) as edge ${foldersBelow(names)}
    where folder.file_id is not null or gone.file_id is not null`
}

/** The folders in `above`, and those that were before they went to the trash: apart, so that each has its index. */
function foldersBelow({ tenantId }: AccessNames, folder = sql``, gone = sql``) {
  return sql`left join files as folder on edge.kind = 0 and folder.tenant_id = ${tenantId}
      and folder.file_tp = 'FLDR' and folder.parent_id = above.file_id ${folder}
    left join files as gone on edge.kind = 1 and gone.tenant_id = ${tenantId}
      and gone.file_tp = 'FLDR' and gone.parent_id is null and gone.original_parent_id = above.file_id ${gone}`
}
