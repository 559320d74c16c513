import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './more-dialog.module.css'
import { peopleTexts } from './people-texts.ts'
import type { ProfileDialog } from './profile-dialog.ts'
import { isBlocked } from './relationship.ts'

interface MoreDialogProps extends ProfileDialog {
  readonly onEnd: () => void
}

/** What is done about an identity more seldom, with what it means. */
export function MoreDialog({ profile, name, onClose, onChange, onEnd }: MoreDialogProps) {
  const t = useTexts(peopleTexts)
  const { status, connected, type, following } = profile
  const isMuted = status === 'Muted'
  return (
    <Dialog title={name} onClose={onClose}>
      <div class={styles.list}>
        {connected === 'connected' && !following && (
          <Button needsServer kind="quiet" icon="plus" onClick={() => onChange('follow')}>
            {t.follow}
          </Button>
        )}
        {!isBlocked(status) && (
          <>
            <Button
              needsServer
              kind="quiet"
              icon="volume-x"
              onClick={() => onChange(isMuted ? 'unmute' : 'mute')}
            >
              {isMuted ? t.unmute : t.mute}
            </Button>
            {!isMuted && <p class="soft">{t['why:muted']}</p>}
          </>
        )}
        <Button
          needsServer
          kind="quiet"
          icon="shield"
          onClick={() => onChange(isBlocked(status) ? 'unblock' : 'block')}
        >
          {isBlocked(status) ? t.unblock : t.block}
        </Button>
        {!isBlocked(status) && <p class="soft">{t['why:blocked']}</p>}
        {connected === 'connected' && (
          <Button needsServer kind="quiet" icon="user-x" onClick={onEnd}>
            {type === 'community' ? t.leave : t.disconnect}
          </Button>
        )}
      </div>
    </Dialog>
  )
}
