import type { Readable } from 'node:stream'
import { type FileId, parseFileId } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { getOwnProfile, type ProfileEmitter } from './own-profile.ts'
import { updateOwnProfile } from './profile-store.ts'

/** The bytes of a picture, as they arrive. */
interface PictureBytes {
  readonly stream: Readable
  readonly contentType: string
  readonly declaredLength: number | undefined
  readonly atMostLength: number | undefined
}

export interface SetPictureDeps extends ProfileEmitter {
  readonly clock: Clock
  /** Cuts and stores a public picture; `alsoStore` runs in the transaction that makes its row. */
  storePicture(picture: {
    readonly tenant: Tenant
    readonly caller: Caller
    readonly preset: 'profile-picture' | 'cover-photo'
    readonly bytes: PictureBytes
    readonly signal: AbortSignal
    readonly alsoStore: (tx: Writer, fileId: FileId) => Promise<void>
  }): Promise<FileId>
  /** Removes a file for ever. */
  dropPicture(tx: Writer, fileId: FileId): Promise<void>
}

const presets = { profilePic: 'profile-picture', coverPic: 'cover-photo' } as const

interface SetPicture {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly place: keyof typeof presets
  readonly bytes: PictureBytes
  readonly signal: AbortSignal
}

/** Puts a picture in its place on the tenant's profile; the one that was there before is removed. */
export async function setPicture(deps: SetPictureDeps, request: SetPicture): Promise<FileId> {
  const { tenant, caller, place, bytes, signal } = request
  return deps.storePicture({
    tenant,
    caller,
    bytes,
    signal,
    preset: presets[place],
    async alsoStore(tx, fileId) {
      const former = (await getOwnProfile(tx, tenant.idTag))[place]
      await updateOwnProfile(tx, { [place]: fileId, updatedAt: nowSecs(deps.clock) })
      const formerId = former === undefined ? undefined : parseFileId(former)
      if (formerId) await deps.dropPicture(tx, formerId)
      await deps.emit(tx, { kind: 'profile.changed', idTag: tenant.idTag, members: [place] })
    },
  })
}
