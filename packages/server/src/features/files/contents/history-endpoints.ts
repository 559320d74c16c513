import { getFileSnapshot, listFileHistory, restoreFileSnapshot } from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { contentsOf } from './file-contents.ts'
import { getSnapshot, type HistoryDeps, listHistory, restoreSnapshot } from './file-history.ts'
import { snapshotView } from './history-view.ts'
import { serveContent } from './serve-content.ts'

export function historyEndpoints(deps: HistoryDeps): Endpoint[] {
  return [
    bind(listFileHistory, async ({ tenant, caller, params: { fileId } }) =>
      (await listHistory(deps, { tenant, caller, fileId })).map(snapshotView),
    ),
    bind(getFileSnapshot, async ({ tenant, caller, params: { fileId, seq } }) => {
      const { file, pieces } = await getSnapshot(deps, { tenant, caller, fileId, seq })
      const mediaType = contentsOf(deps.contents, file.fileTp)?.mediaType ?? 'application/octet-stream'
      const { headers, open } = serveContent(file, { mediaType, seq, pieces })
      return { status: 200 as const, headers, body: open }
    }),
    bind(restoreFileSnapshot, async ({ tenant, caller, params: { fileId, seq } }) => ({
      fileId,
      seq: await restoreSnapshot(deps, { tenant, caller, fileId, seq }),
    })),
  ]
}
