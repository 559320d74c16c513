import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { loadUploadPanel } from '#features/files/index.ts'
import { uploads } from '#platform/uploads.ts'
import { useStore } from '#ui/use-store.ts'

/** The panel of the uploads, on every screen; its code comes with the first upload. */
export function Uploads() {
  const { items } = useStore(uploads)
  const [Panel, setPanel] = useState<ComponentType>()
  const isNeeded = items.length > 0
  useEffect(() => {
    if (isNeeded) void loadUploadPanel().then((UploadPanel) => setPanel(() => UploadPanel))
  }, [isNeeded])
  return Panel && isNeeded ? <Panel /> : null
}
