import { type IdTag, type ManagedStatus, managedStatuses, parseIdTag } from '@kith/protocol'
import { labelsBelow } from '#features/registration/index.ts'
import {
  numberIn,
  optionalNumberIn,
  optionalTagIn,
  optionalTextIn,
  type TenantRow,
  textIn,
  type Writer,
} from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import { acceptAddress } from './managed-identity.ts'
import { insertIdentity } from './managed-identity-store.ts'

/** Stores a name that the tenant of `tx` has given on another server. `E-VALIDATION` for a name that is not its own to
 * give: one that does not lie below `providerTag`, or that a provider of this server has given. */
export async function putMovedIdentity(
  tx: Writer,
  { providerTag, row }: { readonly providerTag: IdTag; readonly row: TenantRow },
): Promise<void> {
  const idTag = ownName(row, providerTag)
  const email = optionalTextIn(row, 'email')
  const ownerTag = optionalTagIn(row, 'owner_tag')
  const address = optionalTextIn(row, 'address')
  const addressUpdatedAt = optionalNumberIn(row, 'address_updated_at')
  const lastSeenAt = optionalNumberIn(row, 'last_seen_at')
  const graceEndsAt = optionalNumberIn(row, 'grace_ends_at')
  const isStored = await insertIdentity(tx, {
    idTag,
    registrarTag: optionalTagIn(row, 'registrar_tag') ?? providerTag,
    status: statusOf(row),
    isDynamic: row.dyndns === 1,
    createdAt: numberIn(row, 'created_at'),
    updatedAt: numberIn(row, 'updated_at'),
    expiresAt: numberIn(row, 'expires_at'),
    ...(email === undefined ? {} : { email: parsedMail(email) }),
    ...(ownerTag ? { ownerTag } : {}),
    ...(address === undefined ? {} : { address: acceptAddress(address, idTag) }),
    ...(addressUpdatedAt === undefined ? {} : { addressUpdatedAt }),
    ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
    ...(graceEndsAt === undefined ? {} : { graceEndsAt }),
  })
  if (!isStored) throw invalid('/id_tag', `${idTag} is given by another provider of this server`)
}

/** A row about a name that the tenant has given or released, as it is. */
export function takeGivenName(row: TenantRow, providerTag: IdTag): TenantRow {
  ownName(row, providerTag)
  return row
}

function ownName(row: TenantRow, providerTag: IdTag): IdTag {
  const idTag = parseIdTag(textIn(row, 'id_tag'))
  const labels = idTag && labelsBelow(idTag, providerTag)
  if (!idTag || idTag !== row.id_tag || !labels || labels.length === 0)
    throw invalid('/id_tag', `is no name below ${providerTag}`)
  return idTag
}

function statusOf(row: TenantRow): ManagedStatus {
  const status = managedStatuses.find((one) => one === row.status)
  if (!status) throw invalid('/status', 'is none of its words')
  return status
}

function parsedMail(text: string): string {
  const email = parseMailAddress(text)
  if (email === undefined) throw invalid('/email', 'is no e-mail address')
  return email
}
