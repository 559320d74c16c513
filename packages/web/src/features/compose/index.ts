export { loadDraftsAside } from './load-drafts-aside.ts'

import { listDevice, readDevice } from '#platform/device-storage.ts'

/** Goes on with posts that were shared and had not left when the app was closed. */
export async function resumeSharing(): Promise<void> {
  const isShared = (name: string) => (readDevice(name) as { leavesAt?: number } | undefined)?.leavesAt
  if (!listDevice('draft:').some(isShared)) return
  const { resume } = await import('./outbox.ts')
  await resume()
}
