import { type Action, acceptAction, dismissAction, rejectAction } from '@kith/protocol'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { freshNotifications } from './notifications-query.ts'
import { showStatus } from './show-status.ts'

/** Answers a request; it is shown as answered at once, and again as before when that fails. */
export async function answerRequest({ actionId, type }: Action, verdict: 'accept' | 'reject'): Promise<void> {
  const contract = verdict === 'accept' ? acceptAction : rejectAction
  const status = verdict === 'accept' ? 'A' : 'D'
  const tell = () => client.call(contract, { params: { actionId } })
  if (type !== 'FSHR') return await withStatus([actionId], { former: 'C', status }, tell)
  // The picture of an accepted file is asked for at once, and the server has it only now.
  await tell()
  showStatus([actionId], status)
}

// Requests at a time.
const atOnce = 4

/** Takes the mark away from notifications that were seen. */
export async function markAsRead(actions: readonly Action[]): Promise<void> {
  const ids = actions.filter(({ status }) => status === 'N').map(({ actionId }) => actionId)
  await withStatus(ids, { former: 'N', status: 'A' }, async () => {
    for (let from = 0; from < ids.length; from += atOnce) {
      const some = ids.slice(from, from + atOnce)
      await Promise.all(some.map((actionId) => client.call(dismissAction, { params: { actionId } })))
    }
  })
}

/** Shows actions as they will be while the server is told, and asks it again when that fails. */
async function withStatus(
  ids: readonly string[],
  { former, status }: { readonly former: 'N' | 'C'; readonly status: 'A' | 'D' },
  tell: () => Promise<unknown>,
): Promise<void> {
  if (ids.length === 0) return
  showStatus(ids, status)
  try {
    await tell()
  } catch (error) {
    showStatus(ids, former)
    await queries.invalidateQueries({ queryKey: freshNotifications.queryKey })
    throw error
  }
}
