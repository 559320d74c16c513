import { notify } from '#platform/notices.ts'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'

/** Runs what someone asked for, and says so where it fails. True when it worked. */
export function useRun(): (action: () => Promise<unknown>) => Promise<boolean> {
  const t = useTexts(filesTexts)
  const explain = useExplain()
  return async (action) => {
    try {
      await action()
      return true
    } catch (error) {
      notify(t.failed(explain(error)), { kind: 'failed' })
      return false
    }
  }
}
