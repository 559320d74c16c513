import type { Action, DeliveryView } from '@kith/protocol'

const soonestMs = 1_000
const latestMs = 60_000
// So long the server may not list all deliveries of an action yet.
const freshMs = 5 * 60_000

/** In how many ms the deliveries of an action are asked for again, since no news tells of them: ever more seldom, until each
 * server has answered. */
export function nextLook(
  { createdAt }: Pick<Action, 'createdAt'>,
  deliveries: readonly DeliveryView[] | undefined,
  looks: number,
  nowMs = Date.now(),
): number | false {
  const isFresh = nowMs - Date.parse(createdAt) < freshMs
  if (!isFresh && !deliveries?.some(isUnderWay)) return false
  return Math.min(latestMs, soonestMs * 2 ** looks)
}

function isUnderWay({ state }: DeliveryView): boolean {
  return state === 'queued' || state === 'retrying'
}
