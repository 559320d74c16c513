import type { KeyObject } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { openTenants } from '#features/tenants/index.ts'
import type { Database } from '#infra/db/index.ts'
import { openSignatures, openSigningKeys, openVault } from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'
import { eachTenant } from '../open-program.ts'

interface Deps {
  readonly db: Database
  readonly masterKey: KeyObject
  readonly clock: Clock
}

// Each costs a signature, about a millisecond; a wrong master key opens none of them.
const maxTried = 100

/** Tenants whose private keys do not open with this master key. */
export async function listUnopenable({ db, masterKey, clock }: Deps): Promise<IdTag[]> {
  const keys = openSigningKeys({
    db,
    vault: openVault({ masterKey }),
    signatures: openSignatures(),
    clock,
  })
  const unopenable: IdTag[] = []
  let tried = 0
  for await (const { tenantId, idTag } of eachTenant(openTenants({ db, clock }))) {
    if (++tried > maxTried) break
    await keys.sign(tenantId, {}).catch(() => unopenable.push(idTag))
  }
  return unopenable
}
