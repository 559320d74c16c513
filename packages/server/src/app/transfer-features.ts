import { getTenant } from '#features/tenants/index.ts'
import { exportEndpoints, openAccountExports } from '#features/transfer/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { version } from './version.ts'

/** What accounts take along, and what sends it. */
interface TransferFeature {
  readonly endpoints: readonly Endpoint[]
  close(): Promise<void>
}

export function openTransferFeature(
  services: Services,
  { tenants }: Pick<IdentityFeatures, 'tenants'>,
): TransferFeature {
  const deps = { ...services, version, getTenant: getTenant.bind(undefined, tenants) }
  const exports = openAccountExports(deps)
  return { endpoints: exportEndpoints({ ...services, exports }), close: exports.close }
}
