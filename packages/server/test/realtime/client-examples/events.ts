import { connectBus } from '@kith/client/bus'
import type { Given } from './given.ts'

export async function example({ baseUrl, token, seenBefore, show, reload }: Given) {
  const bus = connectBus({
    baseUrl,
    token,
    since: seenBefore,
    onEvent: (event) => show(event),
    onGap: () => reload(),
  })
  return [bus]
}
