import type { IdTag } from '@kith/protocol'
import { listLedAlone } from '#features/relations/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { findTenantById } from './tenant-store.ts'

/** Fails with `E-STATE` when a community of this server would be left without a leader who may act, if this identity no
 * longer might. */
export async function assertOthersLead(tx: Writer, idTag: IdTag): Promise<void> {
  const names: string[] = []
  for (const tenantId of await listLedAlone(tx, idTag))
    names.push((await findTenantById(tx, tenantId))?.idTag ?? String(tenantId))
  if (names.length === 0) return
  const [first] = names
  throw new Failure('E-STATE', {
    message: `Nobody else leads ${names.join(', ')}. Appoint another leader first: kith tenant leader ${first} IDTAG`,
    details: { communities: names },
  })
}
