import { offlineSince } from '#platform/offline.ts'
import { uiTexts } from './ui-texts.ts'
import { useStore } from './use-store.ts'
import { useTexts } from './use-texts.ts'

/** Why something that needs the server cannot be done now; undefined when it can. */
export function useServerReason(isNeeded = true): string | undefined {
  const t = useTexts(uiTexts)
  const isOffline = useStore(offlineSince) !== undefined
  return isNeeded && isOffline ? t.needsServer : undefined
}
