import { notify } from '#platform/notices.ts'
import { useExplain } from '#ui/problem.tsx'
import { changeSettings, type Values } from './settings-query.ts'

/** Changes settings at once; says so when it failed. */
export function useChange(): (changes: Values) => void {
  const explain = useExplain()
  return (changes) => {
    changeSettings(changes).catch((error: unknown) => notify(explain(error), { kind: 'failed' }))
  }
}
