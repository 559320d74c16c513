import { hash } from 'node:crypto'
import type { Client } from '@kith/client'
import {
  type ActionId,
  createAction,
  type FileId,
  getFileDescriptor,
  getMe,
  installApp,
  listActions,
  uploadFile,
} from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import type { AppPackage } from './make-package.ts'

export interface PublishOptions {
  readonly visibility: 'P' | 'F' | 'C'
  /** Whether a version that was offered with another package is left as it is; refused when false. */
  readonly mayDiffer?: boolean
}

interface Publication {
  /** Whose offer it is: the identity of the key. */
  readonly idTag: string
  readonly actionId: string
  readonly fileId: string
  /** False when this version was offered before, with the same package. */
  readonly isNew: boolean
}

/** Uploads a package and offers it by an APKG action. A version that was offered before is not offered again; with another package
 * it is refused. */
export async function publishPackage(
  client: Client,
  { manifest, zip }: Pick<AppPackage, 'manifest' | 'zip'>,
  { visibility, mayDiffer = false }: PublishOptions,
): Promise<Publication> {
  const { name, version, id, description, tags } = manifest
  const { data: me } = await client.call(getMe)
  const { idTag } = me
  const present = await findOffer(client, idTag, { name, version })
  if (present && mayDiffer) return { ...present, idTag, isNew: false }
  if (present) {
    const { data } = await client.call(getFileDescriptor, { params: { fileId: present.fileId } })
    if (data.sha256 === hash('sha256', zip, 'base64url')) return { ...present, idTag, isNew: false }
    const message = `${name} ${version} is offered already, with another package. Raise the version in app.json.`
    throw new Failure('E-DUPLICATE', { message, details: { actionId: present.actionId } })
  }
  const params = { preset: 'raw', fileName: `${id}-${version}.zip` } as const
  const { data: file } = await client.upload(
    uploadFile,
    { params, body: new Uint8Array(zip) },
    { contentType: 'application/zip' },
  )
  const content = { name, version, ...(description && { description }), ...(tags && { tags }) }
  const body = { type: 'APKG', content, attachments: [file.fileId], visibility } as const
  const { data: action } = await client.call(createAction, { body })
  return { idTag, actionId: action.actionId, fileId: file.fileId, isNew: true }
}

/** Installs what was published, on the publisher's own host. */
export async function installPackage(client: Client, { actionId }: Publication): Promise<void> {
  await client.call(installApp, { body: { actionId: actionId as ActionId } })
}

async function findOffer(
  client: Client,
  issuer: string,
  { name, version }: { readonly name: string; readonly version: string },
) {
  const query = { type: ['APKG' as const], issuer, limit: 200 }
  for await (const actions of client.pages(listActions, { query })) {
    const offer = actions.find(
      ({ content, status }) => content?.name === name && content.version === version && status !== 'D',
    )
    const [fileId] = offer?.attachments ?? []
    if (offer && fileId !== undefined) return { actionId: offer.actionId, fileId: fileId as FileId }
  }
  return undefined
}
