import type { Client } from '@kith/client'
import { type ActionId, createAction, type FileId, uploadFile } from '@kith/protocol'
import { type MadeEntry, zipArchive } from './zip-archive.ts'

export interface MadePackage {
  readonly name?: string
  readonly version?: string
  /** Members of the manifest beside these. */
  readonly manifest?: object
  readonly entries?: readonly MadeEntry[]
}

/** The bytes of a package with a page, a script, and what is given. */
export function appPackage({ name = 'Notes', version = '1.0.0', manifest, entries = [] }: MadePackage = {}) {
  const described = { id: 'com.example.notes', name, version, entry: 'index.html', ...manifest }
  return zipArchive([
    { path: 'app.json', bytes: JSON.stringify(described) },
    { path: 'index.html', bytes: '<!doctype html><script type="module" src="main.js"></script>' },
    { path: 'main.js', bytes: 'export {}' },
    ...entries,
  ])
}

/** Uploads bytes as a publisher does. */
export async function uploadPackage(publisher: Client, bytes: Buffer<ArrayBuffer>): Promise<FileId> {
  const params = { preset: 'raw', fileName: 'app.zip' } as const
  return (await publisher.upload(uploadFile, { params, body: new Blob([bytes]) })).data.fileId as FileId
}

interface Offer extends MadePackage {
  readonly bytes?: Buffer<ArrayBuffer>
  readonly fileId?: FileId
  readonly content?: object
  readonly action?: object
}

/** Uploads a package and offers it to everybody. */
export async function offerApp(publisher: Client, offer: Offer = {}) {
  const { name = 'Notes', version = '1.0.0', bytes = appPackage(offer), content, action } = offer
  const fileId = offer.fileId ?? (await uploadPackage(publisher, bytes))
  const body = {
    type: 'APKG',
    content: { name, version, ...content },
    attachments: [fileId],
    visibility: 'P',
    ...action,
  } as const
  const { data } = await publisher.call(createAction, { body })
  return { actionId: data.actionId as ActionId, fileId, size: bytes.length }
}
