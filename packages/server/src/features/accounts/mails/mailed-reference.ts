import type { Reference } from '../references/reference.ts'

const scheme = 'mailto:'

/** The resource of a reference that was sent by mail: using it proves that its user reads the mail at that address. */
export function mailedTo(email: string): string {
  return `${scheme}${email}`
}

/** The address to which a reference was mailed; undefined for one that was given in another way. */
export function mailboxOf({ resourceId }: Pick<Reference, 'resourceId'>): string | undefined {
  return resourceId?.startsWith(scheme) ? resourceId.slice(scheme.length) : undefined
}
