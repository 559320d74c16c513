import { parseFileName } from '@kith/protocol'
import { useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { useExplain } from './problem.tsx'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

interface NameDialogProps {
  readonly title: string
  readonly label: string
  readonly start: string
  readonly submit: string
  readonly onName: (name: string) => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for the name of a file or folder. */
export function NameDialog({ title, label, start, submit, onName, onClose }: NameDialogProps) {
  const t = useTexts(uiTexts)
  const explain = useExplain()
  const [name, setName] = useState(start)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isEntered = useRef(false)
  const save = async () => {
    const wanted = parseFileName(name)
    if (wanted === undefined) return setProblem(t.nameWrong)
    setBusy(true)
    try {
      await onName(wanted)
      onClose()
    } catch (error) {
      setProblem(explain(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void save()
        }}
      >
        <Field
          label={label}
          value={name}
          problem={problem}
          autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)}
          autofocus
          onFocus={(event) => {
            // The ending stays when a new name is typed at once.
            if (isEntered.current) return
            isEntered.current = true
            const dot = event.currentTarget.value.lastIndexOf('.')
            event.currentTarget.setSelectionRange(0, dot > 0 ? dot : event.currentTarget.value.length)
          }}
        />
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {submit}
        </Button>
      </form>
    </Dialog>
  )
}
