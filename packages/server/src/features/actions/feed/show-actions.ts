import type { Action, ActionId, AttachedFile } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { ShowDeps } from '../action-ports.ts'
import { actionView } from '../action-view.ts'
import { altTextsOf } from '../alt-texts.ts'
import type { FeedRow } from './feed-query-store.ts'

/** Rows of a tenant, and whether marked ones have the status N. */
export interface Shown {
  readonly tenant: Tenant
  readonly rows: readonly FeedRow[]
  readonly showsMarks: boolean
}

/** Rows that the viewer may read, with the files that are attached to them: one query for all rows, and none where
 * nothing is attached. */
export async function showActions(
  { attachments, clock }: Pick<ShowDeps, 'attachments' | 'clock'>,
  reader: Reader,
  { tenant, rows, showsMarks }: Shown,
): Promise<Outgoing<Action>[]> {
  const actionIds = rows.flatMap((row) => (row.attachments === null ? [] : [row.action_id as ActionId]))
  const now = nowSecs(clock)
  const shown = actionIds.length > 0 ? await attachments.listShown(reader, { tenant, actionIds, now }) : []
  const files = Map.groupBy(shown, ({ actionId }) => actionId as string)
  return rows.map((row) => {
    const view = actionView(row, showsMarks)
    const attached = files.get(row.action_id)
    if (!attached) return view
    return {
      ...view,
      files: inOrder(
        row,
        attached.map(({ file }) => file),
      ),
    }
  })
}

function inOrder({ type, attachments, content }: FeedRow, files: readonly AttachedFile[]): AttachedFile[] {
  const byId = new Map(files.map((file) => [file.fileId, file]))
  const texts = altTextsOf(type, content === null ? undefined : JSON.parse(content))
  return (JSON.parse(attachments ?? '[]') as string[]).flatMap((fileId) => {
    const file = byId.get(fileId)
    const alt = Object.hasOwn(texts, fileId) ? texts[fileId] : undefined
    return file ? [{ ...file, ...(typeof alt === 'string' ? { alt } : {}) }] : []
  })
}
