import type { FileView } from '@kith/protocol'
import { Dialog } from '#ui/dialog.tsx'
import { FileDetails } from './file-details.tsx'

interface DetailsDialogProps {
  readonly file: FileView
  readonly onClose: () => void
}

/** What is known of a file or a folder. */
export function DetailsDialog({ file, onClose }: DetailsDialogProps) {
  return (
    <Dialog title={file.fileName} onClose={onClose}>
      <FileDetails file={file} />
    </Dialog>
  )
}
