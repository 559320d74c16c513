import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { updateTags } from '../lookup-rows-store.ts'
import { findBacklog, noteIndexed } from './index-backlog-store.ts'
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

/** Indexes again what was indexed before words and tags were compared as they are now. Goes on where it was when the
 * process ended. */
export async function indexBacklog({ db }: Deps, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const found = await findBacklog(db.reader(serverTenant))
    if (!found) return
    const limit = actionsAtOnce
    await db.transact(
      found.tenantId,
      async (tx) => {
        const actions = await listIndexedActions(tx, { after: found.after, limit })
        for (const action of actions.filter(isIndexedAnew)) await indexAnew(tx, action)
        await noteIndexed(tx, actions.at(-1)?.seq)
      },
      { isBackground: true },
    )
  }
}

/** Words of ASCII are compared as they were. */
function isIndexedAnew({ content }: IndexedAction): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "not ASCII"
  return content !== undefined && ('tags' in content || /[^\x00-\x7f]/.test(JSON.stringify(content)))
}

async function indexAnew(tx: Writer, action: IndexedAction): Promise<void> {
  await updateTags(tx, action)
  await deleteSearchText(tx, action)
  if (action.isFound) await putSearchText(tx, action)
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
