import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { type IndexedAction, listIndexedActions } from './reindex-store.ts'
import { compactSearchIndex, deleteSearchText, putSearchText } from './search-index-store.ts'

interface Deps {
  readonly db: Database
}

// One step holds up other writers for some milliseconds.
const actionsAtOnce = 200

/** Adds a tenant's actions to the search index, after an import that came without it. */
export async function indexActions(deps: Deps, tenantId: TenantId): Promise<void> {
  await eachAction(deps, tenantId, async (tx, action) => {
    if (action.isFound) await putSearchText(tx, action)
  })
}

/** Removes a tenant's actions from the search index, before the actions themselves are removed. */
export async function unindexActions(deps: Deps, tenantId: TenantId): Promise<void> {
  await eachAction(deps, tenantId, deleteSearchText)
  await compactSearch(deps)
}

/** Takes the words of removed actions out of the search index, which keeps them until then, though no search finds them. */
export async function compactSearch({ db }: Deps, signal?: AbortSignal): Promise<void> {
  while (await db.transact(serverTenant, compactSearchIndex, { isBackground: true })) signal?.throwIfAborted()
}

async function eachAction(
  { db }: Deps,
  tenantId: TenantId,
  change: (tx: Writer, action: IndexedAction) => Promise<void>,
): Promise<void> {
  let after: number | undefined = 0
  while (after !== undefined) {
    const from: number = after
    after = await db.transact(tenantId, async (tx) => {
      const actions = await listIndexedActions(tx, { after: from, limit: actionsAtOnce })
      for (const action of actions) await change(tx, action)
      return actions.at(-1)?.seq
    })
  }
}
