import type { ComponentChildren } from 'preact'
import { Button } from '#ui/button.tsx'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { useTexts } from '#ui/use-texts.ts'
import type { StepName } from './progress.ts'
import styles from './welcome.module.css'
import { welcomeTexts } from './welcome-texts.ts'

interface StepProps {
  readonly name: StepName
  readonly icon: IconName
  readonly state: 'open' | 'done' | 'skipped'
  readonly isShown: boolean
  readonly onToggle: () => void
  /** Leaves it for now, or when it is done goes on to the next. */
  readonly onLeave: () => void
  readonly children: ComponentChildren
}

/** One of the first steps: its title, which opens it, and what there is to do. */
export function Step({ name, icon, state, isShown, onToggle, onLeave, children }: StepProps) {
  const t = useTexts(welcomeTexts)
  const partId = `step-${name}-part`
  return (
    <section class={styles.step} aria-labelledby={headingId(name)}>
      <h2>
        <button
          type="button"
          id={headingId(name)}
          aria-expanded={isShown}
          aria-controls={isShown ? partId : undefined}
          onClick={onToggle}
        >
          <Icon name={icon} />
          <span>{t[name]}</span>
          {state !== 'open' && (
            <span class={styles.state} data-state={state}>
              {state === 'done' && <Icon name="check" />}
              {state === 'done' ? t.isDone : t.isSkipped}
            </span>
          )}
          <Icon name={isShown ? 'chevron-up' : 'chevron-down'} />
        </button>
      </h2>
      {isShown && (
        <div id={partId} class={`${styles.part} stack`}>
          {children}
          <div class={state === 'done' ? '' : styles.later}>
            <Button kind={state === 'done' ? 'plain' : 'quiet'} onClick={onLeave}>
              {state === 'done' ? t.next : t.later}
            </Button>
          </div>
        </div>
      )}
    </section>
  )
}

export function headingId(name: StepName): string {
  return `step-${name}`
}
