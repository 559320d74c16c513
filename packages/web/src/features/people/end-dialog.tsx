import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleTexts } from './people-texts.ts'
import type { ProfileDialog } from './profile-dialog.ts'

/** Asks before a connection is ended: nobody can take that back alone. */
export function EndDialog({ profile, name, onClose, onChange }: ProfileDialog) {
  const t = useTexts(peopleTexts)
  return (
    <Dialog title={t.endConnection(name)} onClose={onClose}>
      <div class="stack">
        <p>{t.endWhy}</p>
        <div class="row">
          <Button kind="danger" onClick={() => onChange('disconnect')}>
            {profile.type === 'community' ? t.leave : t.disconnect}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {t.cancel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
