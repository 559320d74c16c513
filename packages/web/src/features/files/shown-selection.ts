import type { FileView } from '@kith/protocol'
import { useEffect } from 'preact/hooks'
import type { Selection } from '#lib/selection.ts'
import { createStore } from '#lib/store.ts'

/** The files that are selected on the screen, for what stands beside it. */
export const shownSelection = createStore<readonly FileView[]>([])

/** Tells what is selected for as long as the screen is there. */
export function useShownSelection(files: readonly FileView[], { chosen }: Selection): void {
  useEffect(() => {
    shownSelection.set(chosen.size === 0 ? none : files.filter(({ fileId }) => chosen.has(fileId)))
  }, [files, chosen])
  useEffect(() => () => shownSelection.set(none), [])
}

const none: readonly FileView[] = []
