import { useState } from 'preact/hooks'
import { capMarks } from '#lib/shown-text.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { NameDialog } from '#ui/name-dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesKey, makeFolder } from './community-files-query.ts'
import { communityFilesTexts } from './community-files-texts.ts'

interface NewCommunityFolderProps {
  readonly idTag: string
  /** The folder in which it is made; absent: in none. */
  readonly folderId: string | undefined
}

/** Makes a folder that all members see. */
export function NewCommunityFolder({ idTag, folderId }: NewCommunityFolderProps) {
  const t = useTexts(communityFilesTexts)
  const [isNaming, setNaming] = useState(false)
  const make = async (name: string) => {
    await makeFolder(idTag, name, folderId)
    notify(t.made(capMarks(name)))
    await queries.invalidateQueries({ queryKey: filesKey(idTag) })
  }
  return (
    <>
      <Button needsServer icon="folder-plus" onClick={() => setNaming(true)}>
        {t.newFolder}
      </Button>
      {isNaming && (
        <NameDialog
          title={t.newFolder}
          label={t.folderName}
          start=""
          submit={t.create}
          onName={make}
          onClose={() => setNaming(false)}
        />
      )}
    </>
  )
}
