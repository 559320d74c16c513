import type { IdTag } from '@kith/protocol'
import { isBlockedByServer } from '#features/relations/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { DomainBlocks } from './open-domain-blocks.ts'

interface BlockedDeps {
  readonly db: Pick<Database, 'reader'>
  readonly domainBlocks: Pick<DomainBlocks, 'isBlocked'>
}

/** Is an identity blocked, suspended or banned for the whole server, or in a blocked domain? */
export function blockedHere({ db, domainBlocks }: BlockedDeps) {
  return async (idTag: IdTag): Promise<boolean> =>
    (await domainBlocks.isBlocked(idTag)) || (await isBlockedByServer(db.reader(serverTenant), idTag))
}
