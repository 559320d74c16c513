import { isPassing } from '#platform/query.ts'
import { useExplain } from '#ui/problem.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import { type Draft, isEmpty } from './draft.ts'
import { isSaved, saveFaults } from './save-draft.ts'

/** Where what was typed is kept. Not announced: it changes with every pause. */
export function SaveState({ draft, isKept }: { readonly draft: Draft; readonly isKept: boolean }) {
  const t = useTexts(composeTexts)
  const explain = useExplain()
  const fault = useStore(saveFaults).get(draft.id)
  const tell = () => {
    if (isEmpty(draft)) return ''
    if (isSaved(draft)) return t.saved
    if (!isKept) return t.notKept
    return fault !== undefined && !isPassing(fault) ? t.notSaved(explain(fault)) : t.onDevice
  }
  return <p class="soft">{tell()}</p>
}
