import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@kith/client'
import { type AppManifest, appContentType, createFile, type FileView, listFiles } from '@kith/protocol'
import { issueToken, rolesOf, startSession } from '#features/accounts/index.ts'
import { readConfig } from '#infra/config/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { type RunningServer, startServer } from '../../../server.ts'

const idTag = 'dev.localhost'
const dayInSecs = 86_400

/** A server of this process alone, with the one file that the app opens. */
export interface DevData {
  readonly serverUrl: string
  readonly token: string
  readonly user: { readonly idTag: string; readonly name: string }
  readonly file:
    | {
        readonly fileId: string
        readonly name: string
        readonly contentType: string
        readonly kind: 'crdt' | 'rtdb'
      }
    | undefined
  close(): Promise<void>
}

/** Starts the server on a free port of this machine. Its data is in `folder`, or in a temporary folder that goes with it. */
export async function openDevData(manifest: AppManifest, folder: string | undefined): Promise<DevData> {
  const temporary = folder === undefined ? await mkdtemp(join(tmpdir(), 'kith-app-dev-')) : undefined
  const config = readConfig({
    BASE_ID_TAG: idTag,
    BASE_PASSWORD: randomBytes(16).toString('hex'),
    LISTEN: '127.0.0.1:0',
    DATA_DIR: folder ?? temporary,
  })
  const server = await startServer(config, { logger: silentLogger })
  const token = await signIn(server)
  return {
    serverUrl: server.url,
    token,
    user: { idTag, name: 'Developer' },
    file: await openFile(server.url, token, manifest),
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

async function openFile(baseUrl: string, token: string, manifest: AppManifest): Promise<DevData['file']> {
  const kind = manifest.capabilities?.find((capability) => capability !== 'files:read')
  if (kind === undefined) return undefined
  const client = createClient({ baseUrl, token })
  const contentType = appContentType(manifest)
  const { data } = await client.call(listFiles, { query: { contentType, limit: 1 } })
  const [present]: readonly Pick<FileView, 'fileId' | 'fileName'>[] = data
  if (present) return { fileId: present.fileId, name: present.fileName, contentType, kind }
  const fileTp = kind === 'crdt' ? 'CRDT' : 'RTDB'
  const made = await client.call(createFile, { body: { fileTp, fileName: 'Development', contentType } })
  return { fileId: made.data.fileId, name: made.data.fileName, contentType, kind }
}
