import type { FileView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { makeFolder, move } from './file-actions.ts'
import { ShareDialog } from './share-dialog.tsx'
import { NewShare } from './share-people.tsx'
import styles from './sharing.module.css'
import { sharingTexts } from './sharing-texts.ts'
import { useRun } from './use-run.ts'

interface ShareManyDialogProps {
  readonly files: readonly FileView[]
  readonly onClose: () => void
}

/** Shares several files: each with a person, or all of them as a folder. */
export function ShareManyDialog({ files, onClose }: ShareManyDialogProps) {
  const t = useTexts(sharingTexts)
  const [folder, setFolder] = useState<FileView>()
  if (folder) return <ShareDialog file={folder} onClose={onClose} />
  return (
    <Dialog title={t.many(files.length)} onClose={onClose}>
      <div class="stack">
        <h3 class={styles.heading}>{t.people}</h3>
        <NewShare files={files} onShared={onClose} />
        <h3 class={styles.heading}>{t.manyLink}</h3>
        <SharedFolder files={files} onFolder={setFolder} />
      </div>
    </Dialog>
  )
}

interface SharedFolderProps {
  readonly files: readonly FileView[]
  readonly onFolder: (folder: FileView) => void
}

function SharedFolder({ files, onFolder }: SharedFolderProps) {
  const t = useTexts(sharingTexts)
  const run = useRun()
  const [name, setName] = useState('')
  const [isBusy, setBusy] = useState(false)
  const make = async () => {
    setBusy(true)
    await run(async () => {
      const folder = await makeFolder(name.trim(), files[0]?.parentId ?? undefined)
      await move(files, folder.fileId)
      onFolder(folder)
    })
    setBusy(false)
  }
  return (
    <form
      class={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy && name.trim() !== '') void make()
      }}
    >
      <Field
        label={t.folderName}
        hint={t.manyLinkWhy}
        maxLength={255}
        required
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" icon="folder-plus" isBusy={isBusy}>
        {t.makeShared}
      </Button>
    </form>
  )
}
