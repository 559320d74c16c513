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

interface Publication {
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
  visibility: 'P' | 'F' | 'C',
): Promise<Publication> {
  const { name, version, id, description, tags } = manifest
  const present = await findOffer(client, { name, version })
  if (present) {
    const { data } = await client.call(getFileDescriptor, { params: { fileId: present.fileId } })
    if (data.sha256 === hash('sha256', zip, 'base64url')) return { ...present, isNew: false }
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
  return { actionId: action.actionId, fileId: file.fileId, isNew: true }
}

/** Installs what was published, on the publisher's own host. */
export async function installPackage(client: Client, { actionId }: Publication): Promise<void> {
  await client.call(installApp, { body: { actionId: actionId as ActionId } })
}

async function findOffer(client: Client, { name, version }: { name: string; version: string }) {
  const { data: me } = await client.call(getMe)
  const query = { type: ['APKG' as const], issuer: me.idTag, limit: 200 }
  for await (const actions of client.pages(listActions, { query })) {
    const offer = actions.find(
      ({ content, status }) => content?.name === name && content.version === version && status !== 'D',
    )
    const [fileId] = offer?.attachments ?? []
    if (offer && fileId !== undefined) return { actionId: offer.actionId, fileId: fileId as FileId }
  }
  return undefined
}
