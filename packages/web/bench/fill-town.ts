import { type KeyObject, randomBytes } from 'node:crypto'
import { type FileId, fileIdOf, type IdTag } from '@kith/protocol'
import { idTag } from '../../../bench/src/kith.ts'
import { baseTenantId, seedActions, seedPeers } from '../../../bench/src/seed.ts'
import {
  appendMessage,
  changeRelation,
  commitTo,
  countFiles,
  type Database,
  findFile,
  findTenantByIdTag,
  insertAction,
  insertFile,
  insertVariants,
  listVariants,
  newNonce,
  ownActionId,
  putRemoteProfile,
  type StoredAction,
  type StoredFile,
  type StoredVariant,
  serverTenant,
} from '../../../bench/src/server-modules.ts'

export const club = 'club.localhost' as IdTag

type TenantId = Awaited<ReturnType<typeof baseTenantId>>
type Picture = { readonly file: StoredFile; readonly variants: readonly StoredVariant[] }

interface Filling {
  readonly items: number
  readonly photosOfMonth?: number
  readonly writers: readonly { readonly idTag: IdTag; readonly publicKey: KeyObject }[]
  /** Pictures that are there, of which the others are copies. */
  readonly uploaded: readonly string[]
}

const perTransaction = 1000
const now = Math.floor(Date.now() / 1000)
const day = 86_400

/** Puts posts, photos, messages and members into the database of a server that is stopped. Answers the folder of photos. */
export async function fillTown(db: Database, filling: Filling): Promise<FileId> {
  const tenantId = await baseTenantId(db)
  const pictures = await Promise.all(
    filling.uploaded.map(async (fileId) => ({
      file: (await findFile(db.reader(tenantId), fileId as FileId)) as StoredFile,
      variants: await listVariants(db.reader(tenantId), fileId as FileId),
    })),
  )
  const { items, photosOfMonth, writers } = filling
  const peers = writers.map(({ idTag: writer, publicKey }) => ({
    idTag: writer,
    inboxUrl: 'http://127.0.0.1:9/api/inbox',
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }))
  await seedPeers(db, tenantId, peers)
  await befriend(db, tenantId, writers[0]?.idTag)
  if (photosOfMonth === undefined) {
    await fillFeed(db, tenantId, { items, writers, pictures })
    await fillConversation(db, tenantId, { items, other: writers[0]?.idTag })
    await fillClub(db, items)
  }
  return await fillFolder(db, tenantId, {
    count: photosOfMonth ?? items,
    isOneMonth: photosOfMonth !== undefined,
    pictures,
  })
}

// Who is connected may write messages that are no requests.
async function befriend(db: Database, tenantId: TenantId, other: IdTag | undefined): Promise<void> {
  await db.transact(tenantId, async (tx) => {
    if (other) await changeRelation(tx, other, { connection: 'connected', at: now })
  })
}

/** Posts with no, one, two, three or four pictures, and texts of one to four lines. */
async function fillFeed(
  db: Database,
  tenantId: TenantId,
  { items, writers, pictures }: { items: number; writers: Filling['writers']; pictures: readonly Picture[] },
): Promise<void> {
  const copies = new Map<IdTag, FileId[]>()
  await db.transact(tenantId, async (tx) => {
    for (const { idTag: ownerTag } of writers)
      for (const { file, variants } of pictures) {
        const { fileId, content } = commitTo(file.content?.hash as never)
        const about = { fileId, content, ownerTag, isCopy: true, visibility: 'P' as const }
        await insertFile(tx, { ...file, ...about, parentId: undefined })
        await insertVariants(tx, fileId, variants)
        copies.set(ownerTag, [...(copies.get(ownerTag) ?? []), fileId])
      }
  })
  const textOf = (at: number) => 'The garden is open on Sunday, bring seeds and cake. '.repeat(1 + (at % 4))
  await seedActions(db, tenantId, {
    actions: items,
    peers: writers.length,
    vary: (at) => {
      const own = copies.get(writers[at % writers.length]?.idTag as IdTag) ?? []
      const count = [1, 2, 0, 3, 4][at % 5] ?? 0
      const attachments = Array.from({ length: count }, (_, nth) => own[(at + nth) % own.length] as FileId)
      return { attachments, visibility: 'P', content: { text: `${at}: ${textOf(at)}` } }
    },
  })
}

async function fillFolder(
  db: Database,
  tenantId: TenantId,
  { count, isOneMonth, pictures }: { count: number; isOneMonth: boolean; pictures: readonly Picture[] },
): Promise<FileId> {
  const [first] = pictures
  if (!first) throw new Error('there are no pictures')
  const folderId = fileIdOf('FLDR', randomBytes(32).toString('base64url'))
  const folder = { fileTp: 'FLDR', contentType: 'inode/directory', size: 0, content: undefined } as const
  const { picture: _, ...plain } = first.file
  await db.transact(tenantId, async (tx) => {
    await insertFile(tx, { ...plain, ...folder, fileId: folderId, fileName: 'Photos', parentId: undefined })
    await countFiles(tx, count + 1)
  })
  // The middle of a month that is over; else one photo about every two hours.
  const month = Date.UTC(2024, 5, 15) / 1000
  const every = isOneMonth ? (10 * day) / count : (730 * day) / count
  for (let from = 0; from < count; from += perTransaction)
    await db.transact(tenantId, async (tx) => {
      for (let at = from; at < Math.min(count, from + perTransaction); at += 1) {
        const { file, variants } = pictures[at % pictures.length] as Picture
        const { fileId, content } = commitTo(file.content?.hash as never)
        const takenAt = Math.floor((isOneMonth ? month : now) - at * every)
        const details = { ...file.picture, takenAt } as StoredFile['picture']
        const fileName = `IMG_${String(at).padStart(5, '0')}.jpg`
        await insertFile(tx, { ...file, fileId, content, fileName, picture: details, parentId: folderId })
        await insertVariants(tx, fileId, variants)
      }
    })
  return folderId
}

async function fillConversation(
  db: Database,
  tenantId: TenantId,
  { items, other }: { readonly items: number; readonly other: IdTag | undefined },
): Promise<void> {
  if (!other) return
  for (let from = 0; from < items; from += perTransaction)
    await db.transact(tenantId, async (tx) => {
      for (let at = from; at < Math.min(items, from + perTransaction); at += 1) {
        const isOwn = at % 3 === 0
        const message = messageOf(at, items, isOwn ? [idTag, other] : [other, idTag])
        await insertAction(tx, message)
        await appendMessage(tx.tables(), { tenantId, ownTag: idTag, message, isNews: true })
      }
    })
  await db.transact(tenantId, async (tx) => {
    await tx
      .tables<{ conversations: { tenant_id: number; read_position: number; last_position: number } }>()
      .updateTable('conversations')
      .set((row) => ({ read_position: row.ref('last_position') }))
      .where('tenant_id', '=', tenantId)
      .execute()
  })
}

function messageOf(
  at: number,
  items: number,
  [issuerTag, audienceTag]: readonly [IdTag, IdTag],
): StoredAction {
  const nonce = newNonce()
  const createdAt = now - (items - at) * 60
  return {
    type: 'MSG',
    subType: undefined,
    parentId: undefined,
    rootId: undefined,
    audienceTag,
    audience: [],
    content: { text: `${at}: see you on Sunday. `.repeat(1 + (at % 3)) },
    attachments: [],
    subject: undefined,
    expiresAt: undefined,
    visibility: null,
    flags: undefined,
    x: undefined,
    actionId: ownActionId(issuerTag, nonce),
    issuerTag,
    authorTag: undefined,
    withinId: undefined,
    status: 'A',
    isMarked: false,
    createdAt,
    issuedAt: createdAt,
    publishedAt: createdAt,
    publishAt: undefined,
    nonce,
    token: 'x'.repeat(600),
  }
}

async function fillClub(db: Database, items: number): Promise<void> {
  const community = await findTenantByIdTag(db.reader(serverTenant), club)
  if (!community) throw new Error('there is no community')
  for (let from = 0; from < items; from += perTransaction)
    await db.transact(community.tenantId, async (tx) => {
      for (let at = from; at < Math.min(items, from + perTransaction); at += 1) {
        const member = `member${String(at).padStart(5, '0')}.localhost` as IdTag
        await changeRelation(tx, member, { role: 'supporter', connection: 'connected', at: now })
        await putRemoteProfile(tx.as(serverTenant), memberOf(member, at))
      }
    })
}

function memberOf(member: IdTag, at: number) {
  return {
    idTag: member,
    name: `Member ${at}`,
    type: 'person',
    profilePic: undefined,
    coverPic: undefined,
    x: undefined,
    createdAt: now,
    updatedAt: now,
    refreshedAt: now,
    etag: undefined,
  } as const
}
