import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type EnteredTerms, type LinkEnd, type LinkTerms, linkEnds, linkTerms } from '#lib/link-terms.ts'
import { Button } from './button.tsx'
import { Field } from './field.tsx'
import styles from './new-link-form.module.css'
import { useExplain } from './problem.tsx'
import { SelectField } from './select-field.tsx'

type Said = 'newLink' | 'label' | 'labelHint' | 'ends' | 'uses' | 'usesHint' | 'usesWrong' | 'makeLink'

interface NewLinkFormProps {
  readonly t: Readonly<Record<Said | LinkEnd, string>>
  readonly start: EnteredTerms
  readonly usesAtMost: number
  readonly onMake: (terms: LinkTerms) => Promise<unknown>
  /** Further fields. */
  readonly children?: ComponentChildren
}

/** Asks what a new link is for, when it ends and how often it can be used. */
export function NewLinkForm({ t, start, usesAtMost, onMake, children }: NewLinkFormProps) {
  const explain = useExplain()
  const [entered, setEntered] = useState(start)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const make = async () => {
    const terms = linkTerms(entered, usesAtMost)
    if (!terms) return setProblem(t.usesWrong)
    setBusy(true)
    setProblem(undefined)
    try {
      await onMake(terms)
      setEntered(start)
    } catch (error) {
      setProblem(explain(error))
    }
    setBusy(false)
  }
  return (
    <details class={styles.new}>
      <summary>{t.newLink}</summary>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void make()
        }}
      >
        <TermsFields t={t} entered={entered} problem={problem} onEntered={setEntered} />
        {children}
        <div>
          <Button kind="primary" type="submit" icon="link" isBusy={isBusy}>
            {t.makeLink}
          </Button>
        </div>
      </form>
    </details>
  )
}

interface TermsFieldsProps extends Pick<NewLinkFormProps, 't'> {
  readonly entered: EnteredTerms
  readonly problem: string | undefined
  readonly onEntered: (entered: EnteredTerms) => void
}

function TermsFields({ t, entered, problem, onEntered }: TermsFieldsProps) {
  return (
    <>
      <Field
        label={t.label}
        hint={t.labelHint}
        maxLength={200}
        value={entered.description}
        onInput={({ currentTarget }) => onEntered({ ...entered, description: currentTarget.value })}
      />
      <SelectField
        label={t.ends}
        value={entered.end}
        options={linkEnds.map((end) => [end, t[end]] as const)}
        onValue={(end) => onEntered({ ...entered, end })}
      />
      <Field
        label={t.uses}
        hint={t.usesHint}
        inputMode="numeric"
        value={entered.uses}
        problem={problem}
        onInput={({ currentTarget }) => onEntered({ ...entered, uses: currentTarget.value })}
      />
    </>
  )
}
