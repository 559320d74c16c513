import type { FileView } from '@kith/protocol'

/** What is being asked about which files. */
export type Task =
  | { readonly kind: 'rename'; readonly file: FileView }
  | { readonly kind: 'share'; readonly file: FileView }
  | { readonly kind: 'details'; readonly file: FileView }
  | { readonly kind: 'shareMany'; readonly files: readonly FileView[] }
  | { readonly kind: 'move' | 'tags' | 'forGood'; readonly files: readonly FileView[] }
  | { readonly kind: 'folder'; readonly parentId: string | undefined }
  | { readonly kind: 'clearTrash' }

export interface TaskDialogProps {
  readonly task: Task
  readonly onClose: () => void
  readonly onDone: () => void
}
