import { type ActionId, type ActionTokenPayload, parseActionToken } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { ReadDeps, SendDeps, TokenDeps } from '../action-ports.ts'
import { nobody } from '../audience.ts'
import { sendServerAction, signServerAction } from '../compose/server-action.ts'
import {
  type ActionCounts,
  deleteToldCounts,
  findToldCounts,
  listCounted,
  listToldCounts,
} from './count-store.ts'

const daySecs = 86_400
// A counts token is valid for seven days; this leaves a day for whoever asks now.
const freshSecs = 6 * daySecs

/** The last counts tokens of these actions' issuers, for a history. The tenant signs new ones for its own actions once
 * per change of the counts, however often they are asked for. */
export async function listCountTokens(
  ports: ReadDeps & TokenDeps & SendDeps,
  tenant: Tenant,
  actionIds: readonly ActionId[],
): Promise<string[]> {
  if (actionIds.length === 0) return []
  const reader = ports.db.reader(tenant.tenantId)
  const since = nowSecs(ports.clock) - freshSecs
  const told = new Map(
    (await listToldCounts(reader, { actionIds, since })).map(({ actionId, token }) => [actionId, token]),
  )
  const tokens: string[] = []
  for (const { actionId, issuerTag, counts } of await listCounted(reader, actionIds)) {
    const last = told.get(actionId)
    if (last !== undefined && (issuerTag !== tenant.idTag || says(last, counts))) tokens.push(last)
    else if (issuerTag === tenant.idTag) tokens.push(await tellAnew(ports, tenant, { actionId, counts }))
  }
  return tokens
}

async function tellAnew(
  ports: ReadDeps & TokenDeps & SendDeps,
  tenant: Tenant,
  { actionId, counts }: { readonly actionId: ActionId; readonly counts: ActionCounts },
): Promise<string> {
  const word = { type: 'STAT', subject: actionId, content: { ...counts } } as const
  const signed = await signServerAction(ports, tenant, word)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    // Keeps the time of the last delivery: answering a history does not delay the next one.
    const toldAt = (await findToldCounts(tx, actionId))?.toldAt
    await deleteToldCounts(tx, actionId)
    await sendServerAction(ports, tx, { tenant, signed, audience: nobody, toldAt })
  })
  return signed.token
}

function says(token: string, counts: ActionCounts): boolean {
  const parsed = parseActionToken(token)
  if ('problem' in parsed) return false
  const { content = {} } = parsed.payload as ActionTokenPayload
  return Object.entries(counts).every(([name, count]) => content[name] === count)
}
