import { parseFileId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { jsonIn, numberIn, optionalTextIn, type TenantRow, textIn, type Writer } from '#infra/db/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { invalid } from '#lib/failure.ts'
import { assertExtra } from './profile.ts'
import { insertOwnProfile } from './profile-store.ts'

/** Stores the own profile of a tenant that moves here. `E-VALIDATION` for the profile of anybody else: those are read
 * over all tenants. */
export async function putMovedProfile(
  tx: Writer,
  { tenant, row }: { readonly tenant: Tenant; readonly row: TenantRow },
): Promise<void> {
  const { idTag, type } = tenant
  if (row.id_tag !== idTag || row.type !== type) throw invalid('/id_tag', 'is not the tenant’s profile')
  await insertOwnProfile(tx, {
    idTag,
    type,
    name: acceptName(textIn(row, 'name')),
    profilePic: parseFileId(optionalTextIn(row, 'profile_pic') ?? ''),
    coverPic: parseFileId(optionalTextIn(row, 'cover_pic') ?? ''),
    x: extraOf(row),
    createdAt: numberIn(row, 'created_at'),
    updatedAt: numberIn(row, 'updated_at'),
    refreshedAt: undefined,
    etag: undefined,
  })
}

function extraOf(row: TenantRow): Readonly<Record<string, unknown>> | undefined {
  const x = jsonIn(row, 'x')
  if (x === undefined) return undefined
  if (typeof x !== 'object' || x === null || Array.isArray(x)) throw invalid('/x', 'is no object')
  assertExtra(x as Record<string, unknown>)
  return x as Record<string, unknown>
}
