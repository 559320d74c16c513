import { useState } from 'preact/hooks'
import { copyText } from '#platform/copy-text.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { LoadedQrCode } from '#ui/loaded-qr-code.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './welcome.module.css'
import { welcomeTexts } from './welcome-texts.ts'

interface LinkToolsProps {
  readonly url: string
  /** What it is a link to. */
  readonly label: string
  /** What a mail says beside it. */
  readonly mail: string
  readonly onUsed: () => void
}

/** An address, and the ways to give it to somebody. */
export function LinkTools({ url, label, mail, onUsed }: LinkToolsProps) {
  const t = useTexts(welcomeTexts)
  const [isCodeShown, setCodeShown] = useState(false)
  const copy = async () => {
    if (await copyText(url, t)) onUsed()
  }
  const share = async () => {
    try {
      await navigator.share({ url, title: t.mailSubject })
      onUsed()
    } catch {
      // Whoever changed their mind has shared nothing.
    }
  }
  const toMail = `mailto:?${query({ subject: t.mailSubject, body: mail })}`
  return (
    <div class="stack">
      <code class={styles.address}>{url}</code>
      <div class="row">
        {'share' in navigator && (
          <Button kind="primary" icon="share-2" onClick={() => void share()}>
            {t.share}
          </Button>
        )}
        <Button icon="copy" onClick={() => void copy()}>
          {t.copy}
        </Button>
        <ButtonLink icon="mail" href={toMail} isPage>
          {t.mail}
        </ButtonLink>
        <Button
          icon="qr-code"
          aria-pressed={isCodeShown}
          onClick={() => {
            setCodeShown(!isCodeShown)
            onUsed()
          }}
        >
          {t.qr}
        </Button>
      </div>
      {isCodeShown && <LoadedQrCode text={url} label={t.qrOf(label)} />}
    </div>
  )
}

/** Mail programs take a plus sign for one. */
function query(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}
