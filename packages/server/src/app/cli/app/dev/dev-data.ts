import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Client, createClient, uploadFile } from '@kith/client'
import {
  type AppManifest,
  appContentType,
  createFile,
  type FileView,
  isOfFileTypes,
  listFiles,
} from '@kith/protocol'
import { issueToken, rolesOf, startSession } from '#features/accounts/index.ts'
import { assetType } from '#features/apps/index.ts'
import { readConfig } from '#infra/config/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type RunningServer, startServer } from '../../../server.ts'
import { UsageError } from '../../command.ts'

const idTag = 'dev.localhost'
const dayInSecs = 86_400

/** A server of this process alone, with the one file that the app opens. */
export interface DevData {
  readonly serverUrl: string
  readonly token: string
  readonly user: { readonly idTag: string; readonly name: string }
  /** Undefined for an app that opens nothing. */
  readonly file: OpenedFile | undefined
  close(): Promise<void>
}

interface OpenedFile {
  readonly fileId: string
  readonly name: string
  readonly contentType: string
  readonly kind: 'crdt' | 'rtdb' | 'blob'
  /** In bytes; of databases and documents 0. */
  readonly size: number
}

interface DevOptions {
  /** Where the data stays; a temporary folder that goes with it when absent. */
  readonly folder?: string | undefined
  /** The path of a file that the app opens instead of its own database or document. */
  readonly path?: string | undefined
}

/** Starts the server on a free port of this machine. Throws a `UsageError` where the app does not open the file. */
export async function openDevData(
  manifest: AppManifest,
  { folder, path }: DevOptions = {},
): Promise<DevData> {
  const bytes = await bytesToOpen(manifest, path)
  const temporary = folder === undefined ? await mkdtemp(join(tmpdir(), 'kith-app-dev-')) : undefined
  const config = readConfig({
    BASE_ID_TAG: idTag,
    BASE_PASSWORD: randomBytes(16).toString('hex'),
    LISTEN: '127.0.0.1:0',
    DATA_DIR: folder ?? temporary,
    // The page that hosts the app has another port, and reads bytes from here.
    CORS_ORIGINS: '*',
  })
  const server = await startServer(config, { logger: silentLogger })
  const token = await signIn(server)
  const client = createClient({ baseUrl: server.url, token })
  return {
    serverUrl: server.url,
    token,
    user: { idTag, name: 'Developer' },
    file: bytes ? await upload(client, bytes) : await openFile(client, manifest),
    async close() {
      await server.stop()
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
    },
  }
}

/** Opens a session of the owner without a password; its token is valid for a day. */
async function signIn({ services, features }: RunningServer): Promise<string> {
  const { clock, tokenSecrets: secrets, db } = services
  const tenant = await features.identity.tenants.find(services.config.baseIdTag)
  if (!tenant) throw new Error('the base tenant is not there')
  const opened = {
    callerTag: tenant.idTag,
    method: 'password',
    device: { ip: '127.0.0.1' },
    expiresAt: undefined,
  } as const
  const session = await db.transact(tenant.tenantId, (tx) => startSession({ clock }, tx, opened))
  const { token } = await issueToken({ clock, secrets }, tenant, {
    use: 'login',
    sid: session?.sid ?? '',
    callerTag: tenant.idTag,
    roles: rolesOf(tenant, { role: 'leader', isOwner: true, isAdmin: true }),
    lifeSecs: dayInSecs,
    notAfter: [],
  })
  return token
}

interface Bytes {
  readonly name: string
  readonly type: string
  readonly content: Uint8Array<ArrayBuffer>
}

/** The bytes that the app opens: those of a file of its author, or a text for an app that reads texts alone. Undefined for one with
 * databases or documents of its own. */
async function bytesToOpen(manifest: AppManifest, path: string | undefined): Promise<Bytes | undefined> {
  const { capabilities = [], fileTypes = [] } = manifest
  if (path === undefined) {
    const readsAlone = capabilities.every((capability) => capability === 'files:read')
    if (capabilities.length === 0 || !readsAlone) return undefined
    if (!isOfFileTypes(fileTypes, 'text/plain'))
      throw new UsageError(`--file is missing: a file for the app to open, of ${fileTypes.join(' or ')}`)
    return { name: 'Development.txt', type: 'text/plain', content: new TextEncoder().encode(sampleText) }
  }
  const [type = ''] = assetType(path).split(';')
  if (!capabilities.includes('files:read'))
    throw new UsageError('--file is for apps that have files:read in the capabilities of app.json')
  if (!isOfFileTypes(fileTypes, type))
    throw new UsageError(`--file is a ${type}, which is not in the fileTypes of app.json`)
  return { name: basename(path), type, content: new Uint8Array(await readFile(path)) }
}

const sampleText = 'A text to read.\nkith app dev --file PATH opens another one.\n'

async function upload(client: Client, { name, type, content }: Bytes): Promise<OpenedFile> {
  const { fileId } = await uploadFile(client, new Blob([content], { type }), {
    fileName: name,
    preset: 'raw',
  })
  return { fileId, name, contentType: type, kind: 'blob', size: content.length }
}

async function openFile(client: Client, manifest: AppManifest): Promise<OpenedFile | undefined> {
  const kind = manifest.capabilities?.find((capability) => capability !== 'files:read')
  if (kind === undefined) return undefined
  const contentType = appContentType(manifest)
  const { data } = await client.call(listFiles, { query: { contentType, limit: 1 } })
  const [present]: readonly Pick<FileView, 'fileId' | 'fileName'>[] = data
  const fileTp = kind === 'crdt' ? 'CRDT' : 'RTDB'
  const body = { fileTp, fileName: 'Development', contentType } as const
  const { fileId, fileName } = present ?? (await client.call(createFile, { body })).data
  return { fileId, name: fileName, contentType, kind, size: 0 }
}
