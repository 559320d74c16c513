import { optionalTextIn, type TenantRow } from '#infra/db/index.ts'

const scheme = 'mailto:'

/** The resource of a reference that was sent by mail: using it proves that its user reads the mail at that address. */
export function mailedTo(email: string): string {
  return `${scheme}${email}`
}

/** The address to which a reference was mailed; undefined for one that was given in another way. */
export function mailboxOf({ resourceId }: { readonly resourceId?: string | undefined }): string | undefined {
  return resourceId?.startsWith(scheme) ? resourceId.slice(scheme.length) : undefined
}

/** A reference of an archive, as it is here. Undefined for one that would prove an address: this server has not mailed
 * it. */
export function takeReference(row: TenantRow): TenantRow | undefined {
  return mailboxOf({ resourceId: optionalTextIn(row, 'resource_id') }) === undefined ? row : undefined
}
