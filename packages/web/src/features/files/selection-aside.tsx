import type { FileView } from '@kith/protocol'
import { formatBytes } from '#lib/format.ts'
import { Icon } from '#ui/icon.tsx'
import { useStore } from '#ui/use-store.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { FileDetails } from './file-details.tsx'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'
import { shownSelection } from './shown-selection.ts'
import { Thumbnail } from './thumbnail.tsx'

/** What is known of the file that is selected; of several, how much they are. */
export function SelectionAside() {
  const t = useTexts(filesTexts)
  const files = useStore(shownSelection)
  const [file] = files
  if (!file)
    return (
      <p class={`${styles.noDetails} soft`}>
        <Icon name="info" />
        {t.selectForDetails}
      </p>
    )
  return files.length === 1 ? <One key={file.fileId} file={file} /> : <Several files={files} />
}

function One({ file }: { readonly file: FileView }) {
  return (
    <section class="stack">
      <h2>
        <bdi>{file.fileName}</bdi>
      </h2>
      <div class={styles.likeness}>
        <Thumbnail file={file} variant="sd" />
      </div>
      <FileDetails file={file} />
    </section>
  )
}

function Several({ files }: { readonly files: readonly FileView[] }) {
  const t = useTexts(filesTexts)
  const locale = useLocale()
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
  return (
    <section class="stack">
      <h2>{t.selected(files.length)}</h2>
      {bytes > 0 && <p>{t.together(formatBytes(bytes, locale))}</p>}
    </section>
  )
}
