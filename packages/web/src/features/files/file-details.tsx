import type { FileView } from '@kith/protocol'
import { formatBytes, formatMoment } from '#lib/format.ts'
import { shownName } from '#lib/identity.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { kindOf } from './file-kind.ts'
import { filesTexts } from './files-texts.ts'
import styles from './viewer.module.css'
import { VisibilityChoice } from './visibility-choice.tsx'

/** What is known of a file. */
export function FileDetails({ file }: { readonly file: FileView }) {
  const t = useTexts(filesTexts)
  const locale = useLocale()
  const moment = (date: Date) => formatMoment(date, locale)
  const rows: readonly (readonly [string, string | undefined])[] = [
    [t.kind, `${t[kindOf(file)]} (${file.contentType})`],
    [t.size, file.size === undefined ? undefined : formatBytes(file.size, locale)],
    [t.dimensions, file.width && file.height ? `${file.width} × ${file.height}` : undefined],
    [t.taken, file.takenAt === undefined ? undefined : moment(new Date(file.takenAt * 1000))],
    [t.created, moment(new Date(file.createdAt))],
    [t.owner, shownName(file.owner.name, file.owner.idTag)],
    [t.tags, file.tags.length > 0 ? file.tags.join(', ') : undefined],
  ]
  return (
    <div class={styles.details}>
      <dl>
        {rows.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ),
        )}
      </dl>
      <VisibilityChoice key={file.fileId} file={file} />
    </div>
  )
}
