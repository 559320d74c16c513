import type { Action } from '@kith/protocol'
import { formatBytes } from '#lib/format.ts'
import { capMarks } from '#lib/shown-text.ts'
import { Icon } from '#ui/icon.tsx'
import { MediaLink } from '#ui/media-link.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './post.module.css'
import { absentFilesOf, otherFilesOf } from './post-content.ts'
import { postTexts } from './post-texts.ts'

/** What is attached besides pictures, to be loaded down. */
export function PostFiles({ post }: { readonly post: Action }) {
  const t = useTexts(postTexts)
  const locale = useLocale()
  const files = otherFilesOf(post)
  const absent = absentFilesOf(post)
  return (
    <>
      {files.map(({ fileId, fileName, size }) => (
        <MediaLink key={fileId} fileId={fileId} fileName={fileName} class={styles.file}>
          <Icon name="file" />
          <bdi>{capMarks(fileName)}</bdi>
          <span class="soft">{formatBytes(size, locale)}</span>
        </MediaLink>
      ))}
      {absent > 0 && <p class="soft">{t.absentFiles(absent)}</p>}
    </>
  )
}
