import { Failure } from '#lib/failure.ts'
import type { HostedTenant } from './tenant.ts'

export function beingRemoved(): Failure {
  return new Failure('E-STATE', { message: 'This tenant is being removed.' })
}

/** Fails with `E-STATE` for a tenant that is being removed: a part of it may be gone. */
export function assertNotRemoved({ underWay }: Pick<HostedTenant, 'underWay'>): void {
  if (underWay === 'removal') throw beingRemoved()
}

/** Fails with `E-STATE` for a tenant that is being imported: a part of it may be missing. */
export function assertNotImported({ underWay }: Pick<HostedTenant, 'underWay'>): void {
  if (underWay === 'import') throw new Failure('E-STATE', { message: 'This tenant is being imported.' })
}

/** Fails with `E-STATE` for a tenant that is not whole. */
export function assertWhole(tenant: Pick<HostedTenant, 'underWay'>): void {
  assertNotRemoved(tenant)
  assertNotImported(tenant)
}
