import { type FileId, parseFileId } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { ProfileEmitter } from './own-profile.ts'
import { findOwnProfile, updateOwnProfile } from './profile-store.ts'

interface LostPictureDeps extends ProfileEmitter {
  readonly clock: Clock
  /** Is the file removed or in the trash? */
  isPictureLost(reader: Reader, fileId: FileId): Promise<boolean>
}

/** Takes pictures off the tenant's profile whose files were deleted. Restoring a file does not put it back. */
export async function dropLostPictures(
  { clock, emit, isPictureLost }: LostPictureDeps,
  tx: Writer,
): Promise<void> {
  const profile = await findOwnProfile(tx)
  if (!profile) return
  for (const place of ['profilePic', 'coverPic'] as const) {
    const fileId = profile[place] === undefined ? undefined : parseFileId(profile[place])
    if (!fileId || !(await isPictureLost(tx, fileId))) continue
    await updateOwnProfile(tx, { [place]: null, updatedAt: nowSecs(clock) })
    await emit(tx, { kind: 'profile.changed', idTag: profile.idTag, members: [place] })
  }
}
