import { KithError } from '@kith/client'
import { Button } from './button.tsx'
import { codeOf, explainIn } from './explain.ts'
import { Icon } from './icon.tsx'
import styles from './states.module.css'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

/** The sentence about a failure, in the present language. */
export function useExplain(): (error: unknown) => string {
  const t = useTexts(uiTexts)
  return (error) => explainIn(t, error)
}

interface ProblemProps {
  readonly error: unknown
  /** What did not work, as a sentence. */
  readonly what?: string | undefined
  /** Who could allow what is forbidden, as a sentence. */
  readonly whoMay?: string | undefined
  readonly onAgain?: () => void
}

/** Says what failed, in the place where the result would be; the rest of the screen stays. */
export function Problem({ error, what, whoMay, onAgain }: ProblemProps) {
  const t = useTexts(uiTexts)
  const explain = useExplain()
  const reqId = error instanceof KithError ? error.reqId : undefined
  return (
    <div class={styles.problem} role="alert">
      <Icon name="circle-alert" />
      <div>
        {what && <p>{what}</p>}
        <p>{whoMay && codeOf(error) === 'E-AUTH-FORBIDDEN' ? `${t.forbidden} ${whoMay}` : explain(error)}</p>
        {reqId && (
          <details>
            <summary>{t.details}</summary>
            {codeOf(error)}, {t.request(reqId)}
          </details>
        )}
      </div>
      {onAgain && (
        <Button icon="refresh-cw" onClick={onAgain}>
          {t.again}
        </Button>
      )}
    </div>
  )
}
