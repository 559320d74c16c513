import { type IdTag, isVisibleName, parseFileId, parseTimestamp, readJson } from '@kith/protocol'
import { isExtra, type StoredProfile } from './profile.ts'

/** What another server says of one of its identities; members that are missing or malformed are left out. */
export type RemoteProfile = Partial<
  Pick<StoredProfile, 'name' | 'type' | 'profilePic' | 'coverPic' | 'x' | 'createdAt'>
>

/** Reads an answer `{data: {idTag, name, …}}`; undefined when it is not about the identity that was asked for. */
export function parseRemoteProfile(text: string, idTag: IdTag): RemoteProfile | undefined {
  const data = asObject(asObject(parseJson(text))?.data)
  if (data?.idTag !== idTag) return undefined
  const name = typeof data.name === 'string' ? data.name.trim() : ''
  const profilePic = asFileId(data.profilePic)
  const coverPic = asFileId(data.coverPic)
  const createdAt = parseTimestamp(data.createdAt)
  const x = asObject(data.x)
  return {
    ...(isVisibleName(name) ? { name } : {}),
    ...(data.type === 'person' || data.type === 'community' ? { type: data.type } : {}),
    ...(profilePic === undefined ? {} : { profilePic }),
    ...(coverPic === undefined ? {} : { coverPic }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(x && isExtra(x) ? { x } : {}),
  }
}

function asFileId(value: unknown): string | undefined {
  return typeof value === 'string' ? parseFileId(value) : undefined
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

function parseJson(text: string): unknown {
  const read = readJson(new TextEncoder().encode(text))
  return 'value' in read ? read.value : undefined
}
