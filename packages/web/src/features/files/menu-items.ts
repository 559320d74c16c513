import type { FileView } from '@kith/protocol'
import { navigate } from 'wouter-preact/use-browser-location'
import type { MenuItem } from '#ui/menu.tsx'
import { download, mark } from './file-actions.ts'
import type { filesTexts } from './files-texts.ts'
import type { FileTasks } from './use-file-tasks.tsx'

interface MenuOf {
  readonly t: (typeof filesTexts)['en']
  readonly tasks: FileTasks
  readonly run: (action: () => Promise<unknown>) => Promise<boolean>
  readonly isTrash: boolean
  readonly open: (file: FileView) => void
}

/** What can be done with these files. */
export function menuItems(files: readonly FileView[], about: MenuOf): readonly MenuItem[] {
  const { t, tasks, isTrash, open } = about
  const [file] = files
  if (!file) return []
  if (isTrash)
    return [
      { label: t.restore, icon: 'undo-2', run: () => void tasks.putBack(files) },
      {
        label: t.deleteForGood,
        icon: 'trash-2',
        isDanger: true,
        run: () => tasks.ask({ kind: 'forGood', files }),
      },
    ]
  const single: readonly MenuItem[] = [
    { label: t.open, icon: 'eye', run: () => open(file), worksOffline: true },
    { label: t.share, icon: 'share-2', run: () => tasks.ask({ kind: 'share', file }) },
    { label: t.rename, icon: 'pencil', run: () => tasks.ask({ kind: 'rename', file }) },
    { label: t.details, icon: 'info', run: () => tasks.ask({ kind: 'details', file }) },
  ]
  const several: readonly MenuItem[] = [
    { label: t.share, icon: 'share-2', run: () => tasks.ask({ kind: 'shareMany', files }) },
  ]
  return [...(files.length === 1 ? single : several), ...commonItems(files, about)]
}

function commonItems(files: readonly FileView[], { t, tasks, run }: MenuOf): readonly MenuItem[] {
  const areStarred = files.every(({ userData }) => userData?.starred)
  const arePinned = files.every(({ userData }) => userData?.pinned)
  const isZip = files.length > 1 || files[0]?.fileTp === 'FLDR'
  return [
    {
      label: areStarred ? t.unstar : t.star,
      icon: 'star',
      run: () => void run(() => mark(files, { starred: !areStarred })),
    },
    {
      label: arePinned ? t.unpin : t.pin,
      icon: 'pin',
      run: () => void run(() => mark(files, { pinned: !arePinned })),
    },
    ...(files.every(({ fileTp }) => fileTp === 'BLOB')
      ? [{ label: t.post, icon: 'square-pen', run: () => navigate(postWith(files)) } as const]
      : []),
    { label: t.move, icon: 'folder-open', run: () => tasks.ask({ kind: 'move', files }) },
    { label: t.tags, icon: 'tag', run: () => tasks.ask({ kind: 'tags', files }) },
    { label: isZip ? t.downloadZip : t.download, icon: 'download', run: () => void download(files) },
    { label: t.delete, icon: 'trash-2', isDanger: true, run: () => void tasks.trash(files) },
  ]
}

/** The composer of a post with these files. */
function postWith(files: readonly FileView[]): string {
  return `/new?files=${files.map(({ fileId }) => encodeURIComponent(fileId)).join(',')}`
}
