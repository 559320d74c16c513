import type { FileView } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { NewLink } from './new-link.tsx'
import { ShareLink } from './share-link.tsx'
import { SharePeople } from './share-people.tsx'
import styles from './sharing.module.css'
import { type Inherited, sharingOf } from './sharing-query.ts'
import { sharingTexts } from './sharing-texts.ts'

interface ShareDialogProps {
  readonly file: FileView
  readonly onClose: () => void
}

/** With whom a file is shared, and by which links; all of it can be ended at once. */
export function ShareDialog({ file: asked, onClose }: ShareDialogProps) {
  const t = useTexts(sharingTexts)
  // Of what comes from a folder above one goes on to that.
  const [file, setFile] = useState(asked)
  const sharing = useQuery(sharingOf(file))
  return (
    <Dialog title={t.share(file.fileName)} onClose={onClose}>
      <QueryState query={sharing} heights={[44, 120, 44]} />
      {sharing.data && (
        <div class="stack">
          <h3 class={styles.heading}>{t.people}</h3>
          <SharePeople file={file} shares={sharing.data.shares} />
          {sharing.data.inherited.map((one) => (
            <FromAbove key={one.folder.fileId} {...one} onFolder={() => setFile(one.folder)} />
          ))}
          <h3 class={styles.heading}>{t.links}</h3>
          <p class="soft">{t.linkWhy}</p>
          {sharing.data.links.length === 0 && <p class="soft">{t.noLinks}</p>}
          {sharing.data.links.map((link) => (
            <ShareLink key={link.refId} link={link} />
          ))}
          <NewLink file={file} />
        </div>
      )}
    </Dialog>
  )
}

function FromAbove({ folder, shares, links, onFolder }: Inherited & { readonly onFolder: () => void }) {
  const t = useTexts(sharingTexts)
  return (
    <div>
      <p class="soft">{t.inherited(folder.fileName)}</p>
      <ul>
        {shares.map(({ id, subjectType, subjectId, permission }) => (
          <li key={id}>
            <bdi>{subjectType === 'F' ? t.readers : subjectId}</bdi>: {t[permission]}
          </li>
        ))}
        {links.map(({ refId, description, accessLevel }) => (
          <li key={refId}>
            <bdi>{t.linkNamed(description ?? t.unnamed)}</bdi>: {t[accessLevel ?? 'read']}
          </li>
        ))}
      </ul>
      <Button icon="folder" onClick={onFolder}>
        {t.toFolder(folder.fileName)}
      </Button>
    </div>
  )
}
