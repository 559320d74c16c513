import type { FileId } from '@kith/protocol'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { viewerShape } from '#features/relations/index.ts'
import { type Prepared, type Reader, type ReadTables, statement } from '#infra/db/index.ts'
import {
  type AccessNames,
  type AccessTables,
  folderOf,
  isCurrent,
  isNoLostSubject,
  isToViewer,
  permissionLevel,
  reachedFiles,
  readsReached,
} from './file-access-predicate.ts'
import type { FileLevel, FileViewer } from './file-viewer.ts'

/** A file or folder by which somebody may have access to another. */
export interface GrantNode {
  readonly fileId: string
  /** It is reached as the file whose readers something is shared with. */
  readonly isSubject: boolean
  readonly folderId: string | undefined
  /** The viewer reads it without a share. */
  readonly isRead: boolean
}

/** A share of such a file. */
export interface GrantShare {
  readonly shareId: number
  readonly fileId: string
  /** The file whose readers it is for; undefined: it is for the viewer. */
  readonly readersOf: string | undefined
  readonly level: FileLevel
  /** Unix seconds; infinite: never. */
  readonly expiresAt: number
}

/** All of which the ways are made by which somebody may have access to a file. */
export interface GrantSteps {
  readonly nodes: readonly GrantNode[]
  readonly shares: readonly GrantShare[]
}

interface GrantQuestion {
  readonly fileId: FileId
  /** Unix seconds. */
  readonly now: number
  /** Neither this share counts nor what rests on it. */
  readonly apartFrom: number | undefined
}

interface Asked {
  readonly tenantId: number
  readonly viewerTag: string
  readonly tenantTag: string
  readonly now: number
  readonly fileId: string
  readonly apartFrom: number
}

interface StepRow {
  readonly file_id: string
  readonly is_subject: number
  readonly folder_id: string | null
  readonly is_read: number
  readonly share_id: number | null
  readonly readers_of: string | null
  readonly level: number
  readonly expires_at: number | null
}

// One statement for each shape of viewer; shapes are sets of six facts.
const byShape = new Map<string, Prepared<Asked, StepRow>>()

/** What the predicate of access climbs, step by step, with the shares that it finds on the way. */
export async function listGrantSteps(
  reader: Reader,
  who: FileViewer,
  { fileId, now, apartFrom = 0 }: GrantQuestion,
): Promise<GrantSteps> {
  const { idTag = '', tenantTag } = who.viewer
  const { tenantId } = reader
  const asked = { tenantId, viewerTag: idTag, tenantTag, now, fileId, apartFrom }
  const rows = await reader.run(statementFor(who), asked)
  const nodes = new Map<string, GrantNode>()
  const shares = new Map<number, GrantShare>()
  for (const row of rows) {
    const node = nodeOf(row)
    nodes.set(`${node.fileId} ${node.isSubject}`, node)
    if (row.share_id !== null) shares.set(Number(row.share_id), shareOf(row, Number(row.share_id)))
  }
  return { nodes: [...nodes.values()], shares: [...shares.values()] }
}

function nodeOf({ file_id, is_subject, folder_id, is_read }: StepRow): GrantNode {
  const isSubject = is_subject === 1
  return { fileId: file_id, isSubject, folderId: folder_id ?? undefined, isRead: is_read === 1 }
}

function shareOf({ file_id, readers_of, level, expires_at }: StepRow, shareId: number): GrantShare {
  return {
    shareId,
    fileId: file_id,
    readersOf: readers_of ?? undefined,
    level: level as FileLevel,
    expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Number(expires_at),
  }
}

function statementFor(who: FileViewer): Prepared<Asked, StepRow> {
  const shape = `${who.viewer.idTag === undefined} ${viewerShape(who.viewer)}`
  const known = byShape.get(shape)
  if (known) return known
  const made = statement<AccessTables, Asked, StepRow>((tables, value) => {
    const names: AccessNames = {
      tenantId: value('tenantId'),
      viewerTag: value('viewerTag'),
      tenantTag: value('tenantTag'),
      now: value('now'),
      apartFrom: value('apartFrom'),
    }
    return selectSteps(who, names, sql`${value('fileId')}`)(tables)
  })
  byShape.set(shape, made)
  return made
}

// NOTE: SQLite keeps the order of a cross join; else it reads all files of the tenant.
function selectSteps(who: FileViewer, names: AccessNames, fileId: RawBuilder<unknown>) {
  const { tenantId } = names
  const start = sql`select asked.file_id, 0, 0 from files as asked
    where asked.tenant_id = ${tenantId} and asked.file_id = ${fileId}`
  const isGiven = sql<SqlBool>`(given.subject_type = 'F' or ${isToViewer('given', who, names)})`
  const isRead = sql`case when reached.is_subject = 1 and ${readsReached(who, names)} then 1 else 0 end`
  const steps = sql<StepRow>`(
    with recursive ${reachedFiles(start, names)}
    select distinct reached.file_id, reached.is_subject, ${folderOf('node')} as folder_id, ${isRead} as is_read,
      given.share_id, case given.subject_type when 'F' then given.subject_id end as readers_of,
      ${permissionLevel('given')} as level, given.expires_at
    from reached cross join files as node
    left join shares as given on given.tenant_id = ${tenantId} and given.resource_id = node.file_id
      and ${isGiven} and ${isCurrent('given', names)}
    where node.tenant_id = ${tenantId} and node.file_id = reached.file_id and ${isNoLostSubject(names)})`
  return (tables: Pick<ReadTables<AccessTables>, 'selectFrom'>) =>
    tables.selectFrom(steps.as('steps')).selectAll()
}
