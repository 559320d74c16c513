import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { idTag, Kith } from './kith.ts'
import {
  changeRelation,
  type Database,
  findTenantByIdTag,
  insertAction,
  migrations,
  newNonce,
  openDatabase,
  ownActionId,
  putIdentity,
  putRemoteProfile,
  type StoredAction,
  serverTenant,
  withKeys,
} from './server-modules.ts'

const rowsPerTransaction = 2000

/** Opens the database of a data directory whose server has run once, or the one that is named. */
export async function openData(
  dataDir: string,
  databaseUrl = `sqlite:${join(dataDir, 'kith.db')}`,
): Promise<Database> {
  return await openDatabase({ url: databaseUrl, migrations })
}

/** A data directory with the base tenant, and what `fill` puts beside it. */
export async function seed(
  dataDir: string,
  fill: (db: Database, tenantId: Awaited<ReturnType<typeof baseTenantId>>) => Promise<void>,
  databaseUrl?: string,
): Promise<void> {
  const env = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }
  await (await Kith.start(dataDir, {}, env))[Symbol.asyncDispose]()
  const db = await openData(dataDir, databaseUrl)
  await fill(db, await baseTenantId(db))
  await db.close()
}

export async function baseTenantId(db: Database) {
  const tenant = await findTenantByIdTag(db.reader(serverTenant), idTag)
  if (!tenant) throw new Error('there is no base tenant')
  return tenant.tenantId
}

export function peerTag(number: number): IdTag {
  return `peer${number}.localhost` as IdTag
}

/** Identities of other servers that the tenant follows and that follow it, with their profiles. */
export async function seedPeers(
  db: Database,
  tenantId: Awaited<ReturnType<typeof baseTenantId>>,
  peers: readonly { readonly idTag: IdTag; readonly inboxUrl: string; readonly publicKey?: string }[],
): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const shared = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    .publicKey.export({ type: 'spki', format: 'pem' })
    .toString()
  await db.transact(tenantId, async (tx) => {
    for (const { idTag: peer, inboxUrl, publicKey = shared } of peers) {
      await changeRelation(tx, peer, { isFollower: true, isFollowing: true, at: now })
      const serverUrl = new URL(inboxUrl).origin
      const published = {
        idTag: peer,
        serverUrl,
        inboxUrl,
        keys: [{ kid: '20260101aaaa', publicKey }],
        name: peer,
      }
      const cached = {
        identity: withKeys(published),
        server: serverUrl,
        etag: undefined,
        fetchedAt: now,
        expiresAt: now + 86_400,
      }
      await putIdentity(tx.as(serverTenant), cached)
      await putRemoteProfile(tx.as(serverTenant), {
        idTag: peer,
        name: `Peer ${peer}`,
        type: 'person',
        profilePic: undefined,
        coverPic: undefined,
        x: undefined,
        createdAt: now,
        updatedAt: now,
        refreshedAt: now,
        etag: undefined,
      })
    }
  })
}

const words = 'the quick brown fox jumps over the lazy dog while bees hum in the garden behind the old house '

interface ActionSeed {
  readonly actions: number
  readonly peers: number
  /** What is different about the action of a number. */
  readonly vary?: (number: number) => Partial<StoredAction>
}

/** Posts of the peers, one a second up to now, each with about 600 bytes of text. */
export async function seedActions(
  db: Database,
  tenantId: Awaited<ReturnType<typeof baseTenantId>>,
  { actions, peers, vary }: ActionSeed,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  for (let from = 0; from < actions; from += rowsPerTransaction) {
    await db.transact(tenantId, async (tx) => {
      for (let at = from; at < Math.min(actions, from + rowsPerTransaction); at += 1) {
        const post = postOf(peerTag(at % peers), now - actions + at, at)
        await insertAction(tx, { ...post, ...vary?.(at) })
      }
    })
  }
}

function postOf(issuerTag: IdTag, createdAt: number, number: number): StoredAction {
  const nonce = newNonce()
  return {
    type: 'POST',
    subType: undefined,
    parentId: undefined,
    rootId: undefined,
    audienceTag: undefined,
    audience: [],
    content: { title: `Number ${number}`, text: words.repeat(6), tags: ['garden', 'bees'] },
    attachments: [],
    subject: undefined,
    expiresAt: undefined,
    visibility: number % 3 === 0 ? 'P' : 'F',
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
    token: 'x'.repeat(900),
  }
}
