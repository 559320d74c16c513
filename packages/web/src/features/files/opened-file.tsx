import type { FileView } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { Dialog } from '#ui/dialog.tsx'
import { Problem } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { fileOf } from './files-query.ts'
import { filesTexts } from './files-texts.ts'
import { Viewer } from './viewer.tsx'

interface OpenedFileProps {
  readonly openedId: string
  readonly files: readonly FileView[]
  readonly open: (file: FileView) => void
  readonly close: () => void
  readonly onShare: (file: FileView) => void
}

// So many slides beside the open one can be swiped to; the arrow keys lead on.
const slidesAround = 100

/** The viewer with the file of the address, among the files of its list. */
export function OpenedFile({ openedId, files, open, close, onShare }: OpenedFileProps) {
  const t = useTexts(filesTexts)
  const shown = files.filter(({ fileTp }) => fileTp !== 'FLDR')
  const index = shown.findIndex(({ fileId }) => fileId === openedId)
  const alone = useQuery({ ...fileOf(openedId), enabled: index < 0 })
  const around =
    index < 0
      ? alone.data && [alone.data]
      : shown.slice(Math.max(0, index - slidesAround), index + slidesAround + 1)
  if (around)
    return <Viewer files={around} fileId={openedId} onStep={open} onShare={onShare} onClose={close} />
  if (!alone.error) return null
  return (
    <Dialog title={t.file} onClose={close}>
      <Problem error={alone.error} onAgain={() => void alone.refetch()} />
    </Dialog>
  )
}
