import { readFile } from 'node:fs/promises'
import type { Client } from '@kith/client'
import {
  activateIdentity,
  addPasskey,
  addToCollection,
  createAction,
  createApiKey,
  createFile,
  createIdentityKey,
  createManagedIdentity,
  createReference,
  createShare,
  deleteManagedIdentity,
  getAction,
  getPasskeyChallenge,
  getPasskeyLoginChallenge,
  getProxyToken,
  getVapidKey,
  type IdTag,
  initQrLogin,
  installApp,
  listActions,
  login,
  type NewAction,
  putSetting,
  putTag,
  startAccountExport,
  subscribePush,
  uploadFile,
} from '@kith/protocol'
import { listTenantTables, serverTenant, type TenantId } from '#infra/db/index.ts'
import { offerApp } from './app-package.ts'
import { BusDevice } from './bus-client.ts'
import { DatabaseDevice } from './database-client.ts'
import { StockClient } from './document-client.ts'
import { linkIn, readMails } from './mail-files.ts'
import { PushService } from './push-service.ts'
import { TestAuthenticator } from './test-authenticator.ts'
import type { TestServer } from './test-server.ts'

const photo = await readFile(new URL('../fixtures/images/photo.jpg', import.meta.url))

// More than a document keeps before it makes a snapshot of them.
const updatesOfSnapshot = 510

/** Where the name of such a tenant still stands when it is removed: others keep what they have received, its name rests, and
 * the trail of the base tenant has a line. */
export const historyOfOthers = [
  ...['action_attachments', 'action_tags', 'action_texts', 'actions', 'app_offers', 'audit_log'],
  ...['conversation_messages', 'conversations', 'files', 'job_groups', 'jobs', 'quarantined_names'],
  ...['stranger_rows'],
]

// Of those whom the tenants know.
let others = 0

interface Filling {
  readonly server: TestServer
  readonly idTag: IdTag
  readonly client: Client
  readonly token: string
  /** Stands in every text. */
  readonly word: string
}

/** Gives a new tenant of a server a life: rows in nearly every table that a tenant can have rows in, and bytes. */
export async function fillTenant(server: TestServer, idTag: IdTag, word: string): Promise<void> {
  await server.createTenant(idTag, { email: `${word}@example.org`, name: word })
  const filling = await signedIn(server, idTag, word)
  await database(filling)
  await nameProvider(filling)
  const fresh = await signedIn(server, idTag, word)
  await credentials(fresh)
  const fileId = await files(fresh)
  await actions(fresh, fileId)
  await collaborate(fresh)
  await unfinished(fresh)
}

async function signedIn(server: TestServer, idTag: IdTag, word: string): Promise<Filling> {
  const token = await server.signIn(idTag)
  return { server, idTag, client: server.client(idTag, token), token, word }
}

/** The tables with rows of a tenant. */
export async function filledTables(server: TestServer, tenantId: TenantId): Promise<string[]> {
  const reader = server.db.reader(serverTenant)
  const found: string[] = []
  for (const { name } of await listTenantTables(reader)) {
    const rows = reader.tables<Record<string, { tenant_id: number }>>().selectFrom(name).select('tenant_id')
    if (await rows.where('tenant_id', '=', tenantId).limit(1).executeTakeFirst()) found.push(name)
  }
  return found
}

/** Gives names below its own: one that is used, with a key, and one that was given back. */
async function nameProvider({ server, idTag, client, word }: Filling): Promise<void> {
  await client.call(putSetting, { params: { name: 'idp.enabled' }, query: {}, body: { value: true } })
  const give = async (label: string) => {
    server.clock.advance(120_000)
    const email = `${label}-${word}@example.org`
    const name = `${label}.${idTag}` as IdTag
    await client.call(createManagedIdentity, { body: { idTag: name, email } })
    await server.settle()
    const mails = await readMails(server.running.services.config.mail.directory)
    const mail = mails.find(({ to }) => to === email)
    const refId = mail && new URL(linkIn(mail)).hash.slice('#token='.length)
    await server.client(idTag).call(activateIdentity, { body: { refId: refId ?? '' } })
    return name
  }
  await client.call(createIdentityKey, { body: { idTag: await give('used') } })
  await client.call(deleteManagedIdentity, { params: { id: await give('back') } })
  await server.settle()
}

async function credentials({ server, idTag, client, token, word }: Filling): Promise<void> {
  await client.call(createApiKey, { body: { name: word } })
  await client.call(putSetting, { params: { name: `ui.${word}` }, query: {}, body: { value: word } })
  const { data: asked } = await client.call(getPasskeyChallenge)
  const device = new TestAuthenticator(asked.rpId)
  const origin = server.urlOf(idTag)
  const credential = device.register({ challenge: asked.challenge, origin, rpId: asked.rpId })
  await client.call(addPasskey, { body: { name: word, credential } })
  const anybody = server.client(idTag)
  await anybody.call(getPasskeyLoginChallenge, {})
  await anybody.call(initQrLogin, {})
  await anybody.call(login, { body: { idTag, password: 'a wrong one' } }).catch(() => undefined)
  const headers = { authorization: `Bearer ${token}`, origin: server.urlOf(idTag) }
  await server.request(idTag, '/api/auth/browser-session', { method: 'POST', headers })
  await using push = await PushService.start()
  await client.call(getVapidKey)
  await client.call(subscribePush, { body: { subscription: push.browser().subscription } })
}

async function files({ server, client, word }: Filling): Promise<string> {
  const params = { preset: 'default', fileName: `${word}.jpg` } as const
  const { data } = await client.upload(uploadFile, {
    params,
    body: new Blob([photo], { type: 'image/jpeg' }),
  })
  await server.settle()
  const { fileId } = data
  await client.call(putTag, { params: { fileId, tag: word } } as never)
  await client.call(addToCollection, { params: { collType: 'BKMK', itemId: fileId } } as never)
  await client.call(createShare, {
    params: { fileId },
    body: { subjectType: 'U', subjectId: server.baseIdTag, permission: 'W' },
  } as never)
  await client.call(createReference, { body: { type: 'share.file', resourceId: fileId } } as never)
  return fileId
}

async function actions({ server, idTag, client, word }: Filling, fileId: string): Promise<void> {
  others += 1
  const number = others
  const say = async (body: NewAction & object) => (await client.call(createAction, { body })).data.actionId
  const { baseIdTag } = server
  const friend = await server.createTenant(`friend${number}.localhost`)
  for (const other of [baseIdTag, friend.idTag]) {
    await server.relate(other, idTag, { connection: 'connected', isFollowing: true })
    await server.relate(idTag, other, { connection: 'connected', isFollower: true })
  }
  const stranger = await server.createTenant(`stranger${number}.localhost`)
  const post = await say({
    type: 'POST',
    content: { text: `${word} #${word}` },
    attachments: [fileId],
    tags: [word],
    visibility: 'P',
    idempotencyKey: word,
  } as never)
  await say({ type: 'FLLW', audienceTag: baseIdTag })
  await say({ type: 'MSG', audienceTag: baseIdTag, content: { text: word } } as never)
  await say({ type: 'MSG', audience: [baseIdTag, friend.idTag], content: { text: word } } as never)
  await say({ type: 'POST', content: { text: word }, publishAt: 2_000_000_000 } as never)
  const comment = await say({ type: 'CMNT', parentId: post, content: { text: word } } as never)
  await server.settle()
  await (await server.as(stranger.idTag)).call(createAction, {
    body: { type: 'CONN', audienceTag: idTag },
  } as never)
  const base = await server.as(baseIdTag)
  const { data: proxy } = await base.call(getProxyToken, { query: { target: idTag } })
  const visitor = server.client(idTag, proxy.token)
  await visitor.call(getAction, { params: { actionId: post } } as never)
  await client.call(listActions, { query: { parentId: post } } as never)
  await base.call(createAction, { body: { type: 'CMNT', parentId: post, content: { text: 'hm' } } } as never)
  await client.call(addToCollection, { params: { collType: 'BKMK', itemId: comment } } as never)
  const { actionId } = await offerApp(client)
  await client.call(installApp, { body: { actionId } })
  await server.settle()
}

/** Lets an hour pass, after which a state of the database is kept. */
async function database(filling: Filling): Promise<void> {
  const { server, idTag, client, word } = filling
  const { data } = await client.call(createFile, { body: { fileTp: 'RTDB', fileName: word } })
  await writeDatabase(filling, data.fileId, word)
  server.clock.advance(3_600_000)
  await server.settle()
  await writeDatabase(await signedIn(server, idTag, word), data.fileId, `${word} again`)
}

async function writeDatabase(
  { server, idTag, token, word }: Filling,
  fileId: string,
  txId: string,
): Promise<void> {
  await using device = await DatabaseDevice.connect(server, { idTag, fileId }, token)
  await device.ask('createIndex', { path: 'posts', field: 'word' })
  const operations = [{ type: 'create', path: 'posts', data: { word } }]
  await device.ask('transaction', { txId, operations })
}

async function collaborate(filling: Filling): Promise<void> {
  const { server, idTag, client, token, word } = filling
  await using bus = await BusDevice.connect(server, idTag, token)
  const { data } = await client.call(createFile, { body: { fileTp: 'CRDT', fileName: word } })
  // One snapshot, and what was written after it.
  await writeDocument(filling, data.fileId, updatesOfSnapshot)
  await writeDocument(filling, data.fileId, 1)
  await bus.ask('ping')
}

async function writeDocument(
  { server, idTag, token, word }: Filling,
  fileId: string,
  updates: number,
): Promise<void> {
  const open = () => StockClient.open({ port: server.running.port, host: idTag }, fileId, { token }).synced()
  await using reader = await open()
  await using editor = await open()
  const length = reader.text.length + updates * word.length
  const { promise: isThere, resolve } = Promise.withResolvers<void>()
  reader.text.observe(() => reader.text.length === length && resolve())
  for (let turn = 0; turn < updates; turn += 1) editor.text.insert(0, word)
  await isThere
}

/** What is under way. */
async function unfinished({ server, idTag, client, token, word }: Filling): Promise<void> {
  const name = Buffer.from(`${word}.bin`).toString('base64')
  await server.request(idTag, '/api/uploads', {
    method: 'POST',
    headers: {
      'tus-resumable': '1.0.0',
      authorization: `Bearer ${token}`,
      'upload-length': '1000',
      'upload-metadata': `filename ${name},preset cmF3`,
    },
  })
  await client.call(startAccountExport)
}
