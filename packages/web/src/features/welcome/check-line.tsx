import type { ComponentChildren } from 'preact'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { useTexts } from '#ui/use-texts.ts'
import { checksTexts } from './checks-texts.ts'
import styles from './welcome.module.css'

export type CheckState = 'ok' | 'warning' | 'problem' | 'unknown'

const icons: Readonly<Record<CheckState, IconName>> = {
  ok: 'check',
  warning: 'triangle-alert',
  problem: 'circle-alert',
  unknown: 'info',
}

interface CheckLineProps {
  readonly state: CheckState
  readonly title: string
  /** What shows it, and what can be done at once. */
  readonly children: ComponentChildren
  /** What else to do about it. */
  readonly mend?: ComponentChildren
}

/** One thing about the server: how it stands, by what that shows, and how it is mended. */
export function CheckLine({ state, title, children, mend }: CheckLineProps) {
  const t = useTexts(checksTexts)
  return (
    <li class={styles.check} data-state={state}>
      <Icon name={icons[state]} />
      <div class="stack">
        <h3>
          {title} <span class="visually-hidden">{t[state]}</span>
        </h3>
        {children}
        {mend && (
          <details>
            <summary>{t.whatToDo}</summary>
            <div class="stack">{mend}</div>
          </details>
        )}
      </div>
    </li>
  )
}

/** Lines for the command line of the server. */
export function Commands({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre class={styles.commands} dir="ltr">
      <code>{lines.join('\n')}</code>
    </pre>
  )
}
