import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { TextArea } from '#ui/text-area.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleTexts } from './people-texts.ts'
import type { ProfileDialog } from './profile-dialog.ts'

// As a CONN takes it.
const longestMessage = 500

/** Asks for a connection, with a message where one wants. */
export function ConnectDialog({ profile, name, onClose, onChange }: ProfileDialog) {
  const t = useTexts(peopleTexts)
  const isCommunity = profile.type === 'community'
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const message = new FormData(event.currentTarget as HTMLFormElement).get('message')
    onChange('connect', String(message ?? '').trim())
  }
  return (
    <Dialog title={isCommunity ? t.joinNamed(name) : t.connectWith(name)} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p class="soft">{isCommunity ? t.joinWhy : t.connectWhy}</p>
        <TextArea label={t.connectMessage} name="message" maxLength={longestMessage} dir="auto" />
        <div class="row">
          <Button needsServer kind="primary" type="submit" icon="send">
            {t.sendRequest}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {t.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
