import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type ActionId, encodeCursor, type FileId, type FileSort, type IdTag } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actionsMigrations } from '#features/actions/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { relationsMigrations, viewerOf } from '#features/relations/index.ts'
import { alice, aliceTag, bobTag, identity } from '#harness/files-lab.ts'
import { queryPlan } from '#harness/query-plan.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { type Caller, guest } from '#infra/caller/index.ts'
import { type Database, openDatabase, type Reader, type Writer } from '#infra/db/index.ts'
import { listAttached } from './access/attached-files-store.ts'
import { findAccessibleFile, listAttachable } from './access/file-access-store.ts'
import type { FileViewer } from './access/file-viewer.ts'
import { listGrantSteps } from './access/grant-steps-store.ts'
import { putRead } from './collections/collection-store.ts'
import { listEndedCopies } from './copies/copy-store.ts'
import type { NewFile } from './file.ts'
import type { FileFilter } from './file-filter-store.ts'
import { listFilePage } from './file-list-store.ts'
import { insertFile } from './file-store.ts'
import { listTagCounts } from './file-tags-store.ts'
import { countByMonth } from './file-timeline-store.ts'
import { filesMigrations } from './files-migrations.ts'
import { listDiscarded, listLeaves, listTrashRoots, removeFiles } from './folders/file-removal-store.ts'
import { findPlace, restoreLeaves, trashLeaves } from './folders/file-tree-store.ts'
import { deleteFolderChanges, putFolderChange } from './folders/folder-change-store.ts'
import { sumTrash } from './folders/trash-size-store.ts'
import { listEndedReservations } from './upload/lease-store.ts'

const owner = identity(aliceTag, alice)
const visitor = identity(bobTag, alice)
const folder: FileFilter = { place: { parentId: 'f' as FileId } }

const cases: [string, Caller, FileFilter, FileSort, string][] = [
  ['the owner’s files', owner, {}, 'created', 'files_by_created'],
  ['a visitor’s', visitor, {}, 'created', 'files_by_created'],
  ['what is public', guest, {}, 'created', 'files_by_created'],
  ['by change', owner, {}, 'modified', 'files_by_modified'],
  ['by name', owner, {}, 'name', 'files_by_name'],
  ['by size', owner, {}, 'size', 'files_by_size'],
  ['by when they were taken', owner, {}, 'taken', 'files_by_taken'],
  ['of a time', visitor, { takenAfter: 1, takenBefore: 9 }, 'taken', 'files_by_taken'],
  ['in a folder by when they were taken', owner, folder, 'taken', 'files_by_parent_taken'],
  ['in a folder', owner, folder, 'created', 'files_by_parent'],
  ['in a folder by name', owner, folder, 'name', 'files_by_parent_name'],
  ['in a folder by change', visitor, folder, 'modified', 'files_by_parent_modified'],
  ['in no folder', owner, { place: 'root' }, 'created', 'files_by_parent'],
  ['in the trash', owner, { place: 'trash' }, 'created', 'files_trash_roots'],
  ['of some statuses', owner, { statuses: ['A', 'P'] }, 'created', 'files_by_created'],
  ['in no folder by name', owner, { place: 'root' }, 'name', 'files_by_parent_name'],
  ['a visitor’s by name', visitor, {}, 'name', 'files_by_name'],
  ['of a type', owner, { fileTps: ['CRDT'] }, 'created', 'files_by_created'],
  ['of a content type', owner, { contentType: 'image/*' }, 'created', 'files_by_created'],
  ['with tags', owner, { tags: ['a', 'b'] }, 'created', 'files_by_created'],
]

// What is given to a visitor, and what folders are being changed, is looked through once, and kept without doubles.
const isDear = /^SCAN (?!CONSTANT|(open_)?granted$|above$|reached$|edge$|candidate$|\d-ROW)|TEMP B-TREE/

const shown: NewFile = {
  fileId: 'd' as FileId,
  fileTp: 'FLDR',
  status: 'A',
  ownerTag: aliceTag,
  isCopy: false,
  preset: 'default',
  fileName: 'box',
  contentType: 'inode/directory',
  size: 0,
  content: undefined,
  parentId: undefined,
  visibility: 'P',
  tags: [],
  processingError: undefined,
  createdAt: 1,
  modifiedAt: 1,
}

let path: string
let db: Database
let explainer: DatabaseSync
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'kith-plans-'))
  const file = join(path, 'kith.db')
  const migrations = [
    ...federationMigrations,
    ...relationsMigrations,
    ...actionsMigrations,
    ...filesMigrations,
  ]
  db = await openDatabase({ url: `sqlite:${file}`, migrations })
  await db.transact(alice.tenantId, async (tx) => {
    // An empty page would be asked for once more, with regard to folders that are being changed.
    await insertFile(tx, shown)
    const document = {
      fileTp: 'CRDT',
      contentType: 'image/png',
      tags: ['a'],
      parentId: 'f' as FileId,
    } as const
    await insertFile(tx, { ...shown, ...document, fileId: 'e' as FileId })
    await insertFile(tx, { ...shown, fileId: 'g' as FileId, status: 'D' })
    await putRead(tx, aliceTag, shown.fileId, 1)
  })
  explainer = new DatabaseSync(file)
})
afterAll(async () => {
  explainer.close()
  await db.close()
  await rm(path, { recursive: true, force: true })
})

const firstPage = {
  filter: {},
  sort: 'created',
  direction: 'desc',
  limit: 20,
  now: 1,
  cursor: undefined,
} as const

test.each(cases)('a list of files is read through an index, in its order: %s', async (...given) => {
  const [, caller, filter, sort, index] = given
  const who = { viewer: viewerOf(alice, caller, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const steps = await stepsOf((reader: Reader) =>
    listFilePage(reader, who, { ...firstPage, filter, sort, maxCandidates: 0 }),
  )
  // By its id is found the file whose readers something is shared with.
  const ofList = steps.filter((step) => /^S\w+ files (?!.* AND file_id=\?\))/.test(step))
  expect(ofList).toHaveLength(1)
  expect(ofList[0]).toMatch(new RegExp(`^SEARCH files USING INDEX ${index} \\(tenant_id=\\?`))
  expect(steps.filter((step) => isDear.test(step))).toEqual([])
})

test.each([
  [{}, 'files_by_taken'],
  [folder, 'files_by_parent_taken'],
] as const)('a page by when files were taken begins at its place in the index: %j', async (filter, index) => {
  const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const cursor = encodeCursor({ s: 'taken', v: 5, id: 'x' })
  const steps = await stepsOf((reader: Reader) =>
    listFilePage(reader, who, { ...firstPage, filter, sort: 'taken', cursor }),
  )
  expect(steps[0]).toMatch(new RegExp(`^SEARCH files USING INDEX ${index} .* <expr><\\?\\)$`))
  expect(steps.filter((step) => isDear.test(step))).toEqual([])
})

test.each([
  [{}, 'files_by_taken'],
  [{ takenAfter: 1, contentType: 'image/*' }, 'files_by_taken'],
  [folder, 'files_by_parent_taken'],
] as const)('a timeline looks at files in their order, a portion at a time: %j', async (filter, index) => {
  const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const steps = await stepsOf((reader: Reader) => countByMonth(reader, who, { filter, now: 1, portion: 1 }))
  const looks = steps.filter((step) => / files /.test(step))
  expect(looks.filter((step) => step.includes(` INDEX ${index} (`)).length).toBeGreaterThanOrEqual(4)
  expect(looks.filter((step) => /<expr>>\?/.test(step)).length).toBeGreaterThan(0)
  expect(steps.filter((step) => /FOR ORDER BY/.test(step) || /^SCAN files/.test(step))).toEqual([])
})

test('the size of the trash is summed up in an index that holds it', async () => {
  const steps = await stepsOf((reader: Reader) => sumTrash(reader))
  const looks = steps.filter((step) => / files /.test(step))
  expect(new Set(looks)).toEqual(
    new Set(['SEARCH files USING COVERING INDEX files_trash_sizes (tenant_id=? AND status=?)']),
  )
})

test.each([
  ['own', 'files_own'],
  ['received', 'files_received'],
] as const)(
  'few files among many of others are found in an index of their folder: %s',
  async (origin, index) => {
    const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
    const steps = await stepsOf((reader: Reader) =>
      listFilePage(reader, who, { ...firstPage, filter: { place: 'root', origin } }),
    )
    expect(steps[0]).toBe(`SEARCH files USING INDEX ${index} (tenant_id=? AND parent_id=?)`)
  },
)

test('names are searched in an index that holds them', async () => {
  const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const steps = await stepsOf((reader: Reader) =>
    listFilePage(reader, who, { ...firstPage, filter: { words: ['box'] } }),
  )
  expect(steps[0]).toBe('SEARCH files USING COVERING INDEX files_by_search_name (tenant_id=?)')
})

test('the files of actions are found by the actions', async () => {
  const query = { tenant: alice, actionIds: ['a', 'b'] as ActionId[], now: 1 }
  const steps = await stepsOf((reader: Reader) => listAttached(reader, query))
  expect(steps.filter((step) => step.startsWith('SEARCH attached'))).toEqual([
    expect.stringContaining('(tenant_id=? AND action_id=?)'),
  ])
  expect(steps.filter((step) => /^SEARCH files .*\(tenant_id=\? AND file_id=\?\)/.test(step))).toHaveLength(1)
})

const narrowed = identity(bobTag, alice, { scope: `file:d1~${'A'.repeat(43)}:read` })

test.each([visitor, guest, narrowed])('what is given is followed down the folders once', async (caller) => {
  const limits =
    caller === narrowed
      ? ({ everywhere: 0, single: [{ fileId: 'd' as FileId, level: 1 }] } as const)
      : undefined
  const who = { viewer: viewerOf(alice, caller, { hasBlocksOrMutes: false }), held: [], limits }
  const steps = await stepsOf((reader: Reader) => listFilePage(reader, who, firstPage))
  const folders = steps.filter((step) => /^S\w+ (below|gone) /.test(step))
  expect(folders.length).toBeGreaterThan(0)
  for (const step of folders)
    expect(step).toMatch(/^SEARCH (below|gone) USING .*INDEX files_(folders|trashed_from) \(tenant_id=\? AND/)
  const shares = steps.filter((step) => / (person|via|reader_share|shares) USING /.test(step))
  if (caller !== guest)
    expect(shares.find((step) => / person /.test(step))).toMatch(
      /\(tenant_id=\? AND subject_type=\? AND subject_id=\?\)/,
    )
  for (const step of shares) expect(step).toMatch(/INDEX shares_by_subject|tenant_id=\? AND resource_id=\?/)
  // What somebody owns counts for neither a guest nor a token for other files.
  expect(steps.some((step) => / own /.test(step))).toBe(caller === visitor)
})

test.each([visitor, guest])('the actions that show a file are found by it', async (caller) => {
  const who = { viewer: viewerOf(alice, caller, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const steps = await stepsOf((reader: Reader) => listFilePage(reader, who, firstPage))
  const looks = steps.filter((step) => / actions /.test(step))
  expect(looks.length).toBeGreaterThan(0)
  for (const step of looks) expect(step).toMatch(/\(tenant_id=\? AND action_id=\?\)/)
  // Those of its owner: what others attach is not passed on the way.
  const attached = steps.filter((step) => / attached /.test(step))
  expect(attached.length).toBeGreaterThan(0)
  for (const step of attached)
    expect(step).toMatch(/INDEX action_attachments_by_issuer \(tenant_id=\? AND issuer_tag=\?/)
})

test.each([visitor, guest])('who may read few files has no others looked at', async (caller) => {
  const who = { viewer: viewerOf(alice, caller, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const steps = await stepsOf((reader: Reader) => listFilePage(reader, who, firstPage))
  const looks = steps.filter((step) => / (files|node|own|shown|child|attached|copy) /.test(step))
  expect(looks.length).toBeGreaterThan(3)
  for (const step of looks)
    expect(step).toMatch(/\(tenant_id=\? AND \w+=\?|INDEX files_copies \(tenant_id=\?\)/)
})

type Question = Parameters<typeof listGrantSteps>[2]
const questions: [string, (reader: Reader, who: FileViewer, asked: Question) => Promise<unknown>][] = [
  ['the steps by which it is given', listGrantSteps],
  ['its level', (reader, who, { fileId, now }) => findAccessibleFile(reader, who, { fileId, now })],
  [
    'what a share rests on',
    (reader, who, asked) => findAccessibleFile(reader, who, { ...asked, basesOf: 1 }),
  ],
  [
    'whether it may be attached',
    (reader, _who, { fileId }) => listAttachable(reader, [fileId], { owner: aliceTag, madeWith: 'anything' }),
  ],
]

test.each(questions)('access to a file is looked for from that file on: %s', async (_, ask) => {
  for (const held of [[], [{ fileId: 'g' as FileId, level: 1 }]] as const) {
    const viewer = viewerOf(alice, visitor, { hasBlocksOrMutes: false })
    const asked = { fileId: shown.fileId, now: 1, apartFrom: undefined }
    const steps = await planStatements(db, async (own) => {
      await ask(own.reader(alice.tenantId), { viewer, held, limits: undefined }, asked)
    })
    const looks = steps.filter((step) => / (asked|node|files) /.test(step))
    expect(looks.length).toBeGreaterThan(0)
    for (const step of looks) expect(step).toMatch(/^SEARCH .*\(tenant_id=\? AND file_id=\?\)/)
  }
})

test('a list climbs to the folders above only while one is being changed', async () => {
  const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const climbs = async () => {
    const steps = await stepsOf((reader: Reader) => listFilePage(reader, who, firstPage))
    return steps.filter((step) => / (above|folder) /.test(`${step} `))
  }
  expect(await climbs()).toEqual([])
  const change = { kind: 'trashing', folderId: shown.fileId, parentId: undefined } as const
  await db.transact(alice.tenantId, (tx) => putFolderChange(tx, change, 1))
  expect(await climbs()).not.toEqual([])
  await db.transact(alice.tenantId, (tx) => deleteFolderChanges(tx, [shown.fileId]))
})

test('what was read last is found by itself, and the rest in the order of ids', async () => {
  const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
  const listing = {
    filter: {},
    sort: 'recent',
    direction: 'desc',
    limit: 20,
    now: 1,
    cursor: undefined,
  } as const
  const steps = await stepsOf((reader: Reader) => listFilePage(reader, who, listing))
  const [first, second] = steps.filter((step) => / (recent|files) /.test(step))
  expect(first).toMatch(/^SEARCH recent .*added_at>\?/)
  expect(second).toMatch(/^SEARCH files .*\(tenant_id=\? AND file_id=\?\)/)
  expect(steps.filter((step) => /^SCAN|TEMP B-TREE FOR ORDER BY/.test(step))).toEqual([])
})

test('the tags of files are counted in their order', async () => {
  const ownerTag: IdTag = aliceTag
  const steps = await stepsOf((reader: Reader) => listTagCounts(reader, { ownerTag, prefix: 'a', limit: 20 }))
  expect(steps[0]).toMatch(/^SEARCH file_tags USING (PRIMARY KEY|.*INDEX \w+) \(tenant_id=\?\)/)
  expect(steps.filter((step) => /^SCAN (?!CONSTANT|above$)|TEMP B-TREE/.test(step))).toEqual([])
})

const root = 'f' as FileId
const works: [string, (tx: Writer) => Promise<unknown>, RegExp][] = [
  [
    'measuring',
    (tx) => findPlace(tx, { fileId: root, parentId: root }),
    /^SEARCH child USING .*INDEX files_(folders|by_parent\w*|trashed) \(tenant_id=\? AND parent_id=\?\)/,
  ],
  [
    'trashing',
    (tx) => trashLeaves(tx, root, { now: 1, limit: 10 }),
    /^SEARCH files USING INDEX files_by_parent \(tenant_id=\? AND parent_id=\?\)/,
  ],
  [
    'restoring',
    (tx) => restoreLeaves(tx, root, 10),
    /^SEARCH files USING INDEX files_trashed \(tenant_id=\? AND parent_id=\?\)/,
  ],
]

test.each(works)('the files in a folder are found by their folder: %s', async (_, work, expected) => {
  const steps = await db.transact(alice.tenantId, (tx) => stepsOf(work, tx))
  const below = steps.filter((step) => / child |parent_id=/.test(step))
  expect(below.length).toBeGreaterThan(0)
  for (const step of below) expect(step).toMatch(expected)
  expect(steps.filter((step) => /TEMP B-TREE/.test(step))).toEqual([])
})

test('what is in the trash by itself is found in the order of ids', async () => {
  const asked = { owners: [aliceTag], withCopies: true, after: '', limit: 10 } as const
  const steps = await stepsOf((reader: Reader) => listTrashRoots(reader, asked))
  expect(steps[0]).toMatch(
    /^SEARCH files USING INDEX files_trashed \(tenant_id=\? AND parent_id=\? AND file_id>\?\)/,
  )
  expect(steps.filter((step) => /TEMP B-TREE/.test(step))).toEqual([])
})

test('files that go are found one by one, and so are their bytes', async () => {
  const steps = await db.transact(alice.tenantId, (tx) =>
    stepsOf(async (own) => {
      await listLeaves(own, [root], 1)
      await removeFiles(own, [root], 1)
    }, tx),
  )
  expect(steps.filter((step) => /^SEARCH blobs .*blob_hash=\?/.test(step))).toHaveLength(1)
  const hasOneKey = /^SEARCH (?!gone)\w+ .*\(tenant_id=\?\)/
  expect(steps.filter((step) => hasOneKey.test(step) || /^SCAN (?!named$|gone$)/.test(step))).toEqual([])
})

test('what has ended is found by when it ended', async () => {
  const steps = await stepsOf((reader: Reader) => listEndedCopies(reader, 1, 10))
  expect(steps).toEqual(['SEARCH files USING INDEX files_expiry (expires_at>? AND expires_at<?)'])
  const discarded = await stepsOf((reader: Reader) => listDiscarded(reader, { upTo: 1, limit: 10 }))
  expect(discarded).toEqual(['SEARCH files USING INDEX files_discarded (discarded_at>? AND discarded_at<?)'])
  const ended = await stepsOf((reader: Reader) => listEndedReservations(reader, { now: 1, limit: 10 }))
  expect(ended).toEqual([
    'SEARCH storage_reservations USING INDEX storage_reservations_expiry (expires_at<?)',
  ])
})

function stepsOf<Handle extends Reader>(
  work: (handle: Handle) => Promise<unknown>,
  handle = db.reader(alice.tenantId) as Handle,
): Promise<string[]> {
  return queryPlan(explainer, handle, work)
}
