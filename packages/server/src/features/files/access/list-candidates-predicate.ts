import { type RawBuilder, sql } from 'kysely'
import { type AccessNames, codesOf, isCurrent, isReadableFile } from './file-access-predicate.ts'
import type { FileViewer } from './file-viewer.ts'

/** Where lists look for files. It holds at least all that the viewer may read, and decides nothing: `accessLevel` is
 * asked of each row. */
export interface ListCandidates {
  /** `granted(file_id)`: all to which shares, references or keys may give access, and the folders in it. */
  readonly granted: RawBuilder<never>
  /** Every file that the viewer may read, and some that it may not. */
  readonly query: RawBuilder<{ file_id: string }>
}

/** Undefined for whoever acts for the tenant, who reads all files. */
export function candidatesForLists(who: FileViewer, names: AccessNames): ListCandidates | undefined {
  const isNarrowed = who.limits?.everywhere === 0
  if (who.viewer.facts.has('acts-as-tenant') && !isNarrowed) return undefined
  return { granted: grantedTo(who, names), query: candidates(who, names, { isNarrowed }) }
}

function candidates(
  { viewer }: FileViewer,
  { tenantId, viewerTag, tenantTag }: AccessNames,
  { isNarrowed }: { readonly isNarrowed: boolean },
): RawBuilder<{ file_id: string }> {
  const inGranted = (column: 'parent_id' | 'original_parent_id', where = sql``) => sql`
    select child.file_id from granted cross join files as child
    where child.tenant_id = ${tenantId} and ${sql.ref(`child.${column}`)} = granted.file_id ${where}`
  const own = sql`select own.file_id from files as own where own.tenant_id = ${tenantId} and own.owner_tag = ${viewerTag}`
  const parts = [
    sql`select file_id from granted`,
    // Each has its index.
    inGranted('parent_id', sql`and child.status <> 'D'`),
    inGranted('parent_id', sql`and child.status = 'D'`),
    inGranted('original_parent_id'),
    ...(viewer.idTag === undefined || isNarrowed ? [] : [own]),
    sql`select shown.file_id from files as shown where shown.tenant_id = ${tenantId}
      and shown.visibility in (${codesOf(viewer)})`,
    // What others attach is not even looked at, however much it is.
    sql`select attached.file_id from action_attachments as attached
      where attached.tenant_id = ${tenantId} and attached.issuer_tag = ${tenantTag}`,
    sql`select copy.file_id from files as copy where copy.tenant_id = ${tenantId} and copy.is_copy = 1
      and exists (select 1 from action_attachments as attached where attached.tenant_id = copy.tenant_id
        and attached.issuer_tag = copy.owner_tag and attached.file_id = copy.file_id)`,
  ]
  return sql`${sql.join(parts, sql` union all `)}`
}

function grantedTo(who: FileViewer, names: AccessNames): RawBuilder<never> {
  const { viewer, held, limits } = who
  const { tenantId } = names
  const keys = [...held, ...(limits?.single ?? [])].map(({ fileId }) => fileId)
  const isNamed = keys.length === 0 ? sql`false` : sql`named.file_id in (${sql.join(keys)})`
  // Whatever everybody reads, who needs no token, its owner reads as well.
  const isReader = isReadableFile({ ...who, limits: undefined }, { ...names, withoutChanges: true })
  const person =
    viewer.idTag === undefined
      ? sql``
      : sql`union all select person.resource_id from shares as person where person.tenant_id = ${tenantId}
          and person.subject_type = 'U' and person.subject_id = ${names.viewerTag} and ${isCurrent('person', names)}`
  return sql`
    select named.file_id from files as named where named.tenant_id = ${tenantId} and ${isNamed}
    ${person}
    union all select via.resource_id from shares as via cross join files
      where via.tenant_id = ${tenantId} and via.subject_type = 'F' and ${isCurrent('via', names)}
      and files.tenant_id = ${tenantId} and files.file_id = via.subject_id and ${isReader}
    union select coalesce(below.file_id, gone.file_id) from granted as above
      cross join (select 0 as kind union all select 1 as kind) as edge
      left join files as below on edge.kind = 0 and below.tenant_id = ${tenantId}
        and below.file_tp = 'FLDR' and below.parent_id = above.file_id
      left join files as gone on edge.kind = 1 and gone.tenant_id = ${tenantId}
        and gone.file_tp = 'FLDR' and gone.original_parent_id = above.file_id
      where below.file_id is not null or gone.file_id is not null`
}
