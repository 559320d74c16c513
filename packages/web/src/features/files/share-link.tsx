import { deleteReference, type ReferenceView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { formatMoment } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { copyText } from '#platform/copy-text.ts'
import { notify } from '#platform/notices.ts'
import { Button } from '#ui/button.tsx'
import { LoadedQrCode } from '#ui/loaded-qr-code.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './sharing.module.css'
import { refreshSharing } from './sharing-query.ts'
import { sharingTexts } from './sharing-texts.ts'

/** A link to a file: what it gives, its code, and its end. */
export function ShareLink({ link }: { readonly link: ReferenceView }) {
  const t = useTexts(sharingTexts)
  const locale = useLocale()
  const [isCodeShown, setCodeShown] = useState(false)
  const explain = useExplain()
  const name = link.description ?? t.unnamed
  const url = `${location.origin}/shared#token=${link.refId}`
  const end = async () => {
    try {
      await client.call(deleteReference, { params: { refId: link.refId } })
      notify(t.ended)
    } catch (error) {
      notify(t.failed(explain(error)), { kind: 'failed' })
    }
    await refreshSharing()
  }
  const about = [
    t[link.accessLevel ?? 'read'],
    link.expiresAt === undefined ? undefined : t.until(formatMoment(new Date(link.expiresAt * 1000), locale)),
    link.count === null ? undefined : t.left(link.count),
  ]
  return (
    <div class={styles.link}>
      <div>
        <strong dir="auto">{name}</strong>
        <div class="soft">{about.filter(Boolean).join(' · ')}</div>
        {isCodeShown && <LoadedQrCode text={url} label={t.qrOf(name)} />}
      </div>
      <div class="row">
        <Button icon="copy" onClick={() => void copyText(url, t)}>
          {t.copy}
        </Button>
        <Button icon="qr-code" aria-pressed={isCodeShown} onClick={() => setCodeShown(!isCodeShown)}>
          {t.showQr}
        </Button>
        <Button kind="danger" aria-label={t.endLink(name)} onClick={() => void end()}>
          {t.end}
        </Button>
      </div>
    </div>
  )
}
