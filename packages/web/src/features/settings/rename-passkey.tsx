import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'
import { securityTexts } from './security-texts.ts'

interface RenamePasskeyProps {
  readonly present: string
  readonly onName: (name: string) => void
  readonly onClose: () => void
}

/** Asks how a passkey is to be called. */
export function RenamePasskey({ present, onName, onClose }: RenamePasskeyProps) {
  const t = useTexts(securityTexts)
  const ui = useTexts(uiTexts)
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get('name')).trim()
    if (name === '' || name === present) return onClose()
    onName(name)
  }
  return (
    <Dialog title={t.renameTitle} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit}>
        <Field
          label={t.newName}
          hint={t.passkeyNameWhy}
          name="name"
          autocomplete="off"
          maxLength={100}
          required
          defaultValue={present}
        />
        <div class="row">
          <Button kind="primary" type="submit">
            {t.rename}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {ui.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
