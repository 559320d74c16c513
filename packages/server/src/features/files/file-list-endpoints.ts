import {
  type FileView,
  getFileTimeline as getTimelineContract,
  getUsageByKind as getUsageByKindContract,
  getUsage as getUsageContract,
  type IdTag,
  listFiles as listFilesContract,
  listTags as listTagsContract,
} from '@kith/protocol'
import type { Reader, TenantId } from '#infra/db/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { ReadDeps } from './access/read-file.ts'
import type { ListedFile } from './file-list-store.ts'
import { fileView } from './file-view.ts'
import { countMonths, listFiles, listTags } from './list-files.ts'
import { getUsage, getUsageByKind, type UsageDeps } from './upload/get-usage.ts'

export interface FileListDeps extends ReadDeps, UsageDeps {
  /** The names under which identities are known to a tenant, as far as they are. */
  readonly findNames: (reader: Reader, idTags: readonly IdTag[]) => Promise<ReadonlyMap<IdTag, string>>
}

export function fileListEndpoints(deps: FileListDeps): Endpoint[] {
  return [
    bind(listFilesContract, async ({ tenant, caller, query }) => {
      const { items, ...page } = await listFiles(deps, { tenant, caller, query })
      return { ...page, items: await viewsOf(deps, tenant.tenantId, items) }
    }),
    bind(getTimelineContract, ({ tenant, caller, query }) => countMonths(deps, { tenant, caller, query })),
    bind(listTagsContract, async ({ tenant, caller, query }) => {
      const { prefix = '', withCounts, limit = 200 } = query
      const tags = await listTags(deps, { tenant, caller, prefix, limit })
      return withCounts ? tags : tags.map(({ tag }) => ({ tag }))
    }),
    bind(getUsageContract, ({ tenant, caller }) => getUsage(deps, { tenant, caller })),
    bind(getUsageByKindContract, ({ tenant, caller }) => getUsageByKind(deps, { tenant, caller })),
  ]
}

/** Files as the wire knows them, with the names of their owners. */
export async function viewsOf(
  { db, findNames }: Pick<FileListDeps, 'db' | 'findNames'>,
  tenantId: TenantId,
  files: readonly ListedFile[],
): Promise<FileView[]> {
  const owners = [...new Set(files.map(({ file }) => file.ownerTag))]
  const names = owners.length === 0 ? undefined : await findNames(db.reader(tenantId), owners)
  return files.map(({ file, userData }) =>
    fileView(file, names?.get(file.ownerTag) ?? file.ownerTag, userData),
  )
}
