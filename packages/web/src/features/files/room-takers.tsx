import type { FileView } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { formatBytes } from '#lib/format.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { Problem } from '#ui/problem.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { clearTrash, removeAtOnce } from './file-actions.ts'
import { roomTakers } from './room-query.ts'
import styles from './room-takers.module.css'
import { roomTexts } from './room-texts.ts'
import { useRun } from './use-run.ts'

/** What could be deleted to make room: the trash, and the largest files. */
export function RoomTakers({ onFreed }: { readonly onFreed: () => void }) {
  const t = useTexts(roomTexts)
  const run = useRun()
  const { data, error, refetch } = useQuery(roomTakers)
  const free = async (work: () => Promise<void>) => {
    if (await run(work)) onFreed()
  }
  if (error) return <Problem error={error} onAgain={() => void refetch()} />
  if (!data) return <p class="soft">{t.looking}</p>
  const { trash, largest } = data
  return (
    <>
      {trash.files > 0 && <Trash {...trash} onEmpty={() => void free(clearTrash)} />}
      {largest.length > 0 && (
        <>
          <h3 class={styles.title}>{t.largest}</h3>
          <ul class={styles.takers}>
            {largest.map((file) => (
              <Taker key={file.fileId} file={file} onRemove={() => void free(() => removeAtOnce([file]))} />
            ))}
          </ul>
        </>
      )}
    </>
  )
}

interface TrashProps {
  readonly files: number
  readonly bytes: number
  readonly onEmpty: () => void
}

function Trash({ files, bytes, onEmpty }: TrashProps) {
  const t = useTexts(roomTexts)
  const locale = useLocale()
  const [isSure, setSure] = useState(false)
  return (
    <div class={styles.taker}>
      <span>{t.trash(t.files(files), formatBytes(bytes, locale))}</span>
      {isSure ? (
        <Button kind="danger" onClick={onEmpty}>
          {t.emptySure(t.files(files))}
        </Button>
      ) : (
        <Button icon="trash-2" onClick={() => setSure(true)}>
          {t.emptyTrash}
        </Button>
      )}
    </div>
  )
}

/** The first press asks, the second deletes: a dialog over this one would hide why. */
function Taker({ file, onRemove }: { readonly file: FileView; readonly onRemove: () => void }) {
  const t = useTexts(roomTexts)
  const locale = useLocale()
  const [isSure, setSure] = useState(false)
  return (
    <li class={styles.taker}>
      <span>
        <bdi>{file.fileName}</bdi> <span class="soft">{formatBytes(file.size ?? 0, locale)}</span>
      </span>
      {isSure ? (
        <Button kind="danger" onClick={onRemove}>
          {t.removeSure(file.fileName)}
        </Button>
      ) : (
        <IconButton icon="trash-2" label={t.remove(file.fileName)} onClick={() => setSure(true)} />
      )}
    </li>
  )
}
