import { type CommunityRole, changeFile, deleteFile, type FileView, restoreFile } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { capMarks } from '#lib/shown-text.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Menu } from '#ui/menu.tsx'
import { MoveDialog } from '#ui/move-dialog.tsx'
import { NameDialog } from '#ui/name-dialog.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesIn, filesKey } from './community-files-query.ts'
import { communityFilesTexts } from './community-files-texts.ts'
import { manageTexts } from './manage-texts.ts'
import { mayChange } from './may-change.ts'

interface CommunityFileMenuProps {
  readonly idTag: string
  readonly file: FileView
  /** One's own. */
  readonly role: CommunityRole | undefined
}

/** What its owner, and those who moderate, may do with a file of a community. */
export function CommunityFileMenu({ idTag, file, role }: CommunityFileMenuProps) {
  const t = useTexts(communityFilesTexts)
  const manage = useTexts(manageTexts)
  const [task, setTask] = useState<'rename' | 'move'>()
  const { rename, move, remove } = useChanges(idTag, file)
  const close = () => setTask(undefined)
  const name = capMarks(file.fileName)
  return (
    <>
      <Menu
        label={t.actionsOf(name)}
        items={() => [
          { label: t.rename, icon: 'pencil', run: () => setTask('rename') },
          { label: t.move, icon: 'folder-open', run: () => setTask('move') },
          { label: t.remove, icon: 'trash-2', run: remove, isDanger: true },
        ]}
      />
      {task === 'rename' && (
        <NameDialog
          title={t.rename}
          label={t.newName}
          start={file.fileName}
          submit={t.rename}
          onName={rename}
          onClose={close}
        />
      )}
      {task === 'move' && (
        <MoveDialog
          title={t.moveOf(capMarks(file.fileName))}
          root={manage.allFiles}
          moved={[file]}
          useFilesIn={(folderId) => useInfiniteQuery(filesIn(idTag, folderId))}
          refusalOf={(folder) => (mayChange(folder, role) ? undefined : t.notYours)}
          onClose={close}
          onMove={(parentId) => {
            close()
            move(parentId)
          }}
        />
      )}
    </>
  )
}

/** The changes at the community's host, each said once it is done. */
function useChanges(idTag: string, file: FileView) {
  const t = useTexts(communityFilesTexts)
  const explain = useExplain()
  const { fileId } = file
  const host = client.at(idTag)
  const name = capMarks(file.fileName)
  const refresh = () => queries.invalidateQueries({ queryKey: filesKey(idTag) })
  const attempt = (work: () => Promise<unknown>, after: () => void) =>
    void work()
      .then(after, (error) => notify(`${t.failed(name)} ${explain(error)}`, { kind: 'failed' }))
      .finally(refresh)
  const restore = () =>
    attempt(
      () => host.call(restoreFile, { params: { fileId } }),
      () => notify(t.restored(name)),
    )
  return {
    rename: async (fileName: string) => {
      await host.call(changeFile, { params: { fileId }, body: { fileName } })
      notify(t.renamed(capMarks(fileName)))
      await refresh()
    },
    move: (parentId: string | null) =>
      attempt(
        () => host.call(changeFile, { params: { fileId }, body: { parentId } }),
        () => notify(t.moved(name)),
      ),
    remove: () =>
      attempt(
        () => host.call(deleteFile, { params: { fileId } }),
        () => notify(t.removed(name), { action: { label: t.undo, run: restore } }),
      ),
  }
}
