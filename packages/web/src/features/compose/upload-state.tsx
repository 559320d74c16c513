import { useRef } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import type { DraftFile } from './draft.ts'
import { hasSource, retryUpload, uploads } from './uploads.ts'

interface UploadStateProps {
  readonly draftId: string
  readonly file: DraftFile
}

/** How far the upload of a file is, or why it ended. */
export function UploadState({ draftId, file: { key, fileName, size } }: UploadStateProps) {
  const t = useTexts(composeTexts)
  const explain = useExplain()
  const upload = useStore(uploads).get(key)
  if (upload?.state === 'waiting') return <p class="soft">{t.waiting}</p>
  if (upload?.state === 'running')
    return <progress aria-label={t.uploading(fileName)} value={upload.sentBytes} max={size} />
  return (
    <div class={styles.failed} role="alert">
      <span>{upload ? explain(upload.error) : t.interrupted}</span>
      {hasSource(key) ? (
        <Button icon="refresh-cw" onClick={() => retryUpload(draftId, key)}>
          {t.retry}
        </Button>
      ) : (
        <ChooseAgain onFile={(file) => retryUpload(draftId, key, file)} />
      )}
    </div>
  )
}

function ChooseAgain({ onFile }: { readonly onFile: (file: File) => void }) {
  const t = useTexts(composeTexts)
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button icon="refresh-cw" onClick={() => input.current?.click()}>
        {t.chooseAgain}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          if (file) onFile(file)
        }}
      />
    </>
  )
}
