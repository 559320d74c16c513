import type { CommunityRole, FileView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { formatBytes } from '#lib/format.ts'
import { shownName } from '#lib/identity.ts'
import { capMarks } from '#lib/shown-text.ts'
import { notify } from '#platform/notices.ts'
import { saveFile } from '#platform/remote-bytes.ts'
import { IconButton } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { Loading } from '#ui/loading.tsx'
import { Problem, useExplain } from '#ui/problem.tsx'
import { Time } from '#ui/time.tsx'
import { useRemotePicture } from '#ui/use-remote-picture.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { CommunityFileMenu } from './community-file-menu.tsx'
import styles from './community-files.module.css'
import { manageTexts } from './manage-texts.ts'
import { mayChange } from './may-change.ts'

interface CommunityFileProps {
  readonly idTag: string
  readonly file: FileView
  /** One's own. */
  readonly role: CommunityRole | undefined
}

/** A file of a community: folders open, pictures are shown, everything can be saved. */
export function CommunityFile({ idTag, file, role }: CommunityFileProps) {
  const manage = useTexts(manageTexts)
  const explain = useExplain()
  const [isShown, setShown] = useState(false)
  const { fileId, fileTp } = file
  const fileName = capMarks(file.fileName)
  const menu = mayChange(file, role) && <CommunityFileMenu idTag={idTag} file={file} role={role} />
  if (fileTp === 'FLDR') {
    const path = `/communities/${encodeURIComponent(idTag)}?show=files&in=${encodeURIComponent(fileId)}`
    return (
      <li>
        <Link href={path} class={styles.folder}>
          <span class={styles.preview}>
            <Icon name="folder" />
          </span>
          <bdi>{fileName}</bdi>
        </Link>
        {menu}
      </li>
    )
  }
  const save = () =>
    saveFile(idTag, file).catch((error: unknown) =>
      notify(`${manage.downloadFailed(fileName)} ${explain(error)}`, { kind: 'failed' }),
    )
  return (
    <li>
      {isPicture(file) ? (
        <button
          type="button"
          class={styles.preview}
          aria-label={manage.open(fileName)}
          onClick={() => setShown(true)}
        >
          <Small idTag={idTag} fileId={fileId} />
        </button>
      ) : (
        <span class={styles.preview}>
          <Icon name={fileTp === 'BLOB' ? 'file' : 'file-text'} />
        </span>
      )}
      <About file={file} />
      {fileTp === 'BLOB' && (
        <IconButton icon="download" label={manage.download(fileName)} onClick={() => void save()} />
      )}
      {menu}
      {isShown && <PictureDialog idTag={idTag} file={file} onClose={() => setShown(false)} />}
    </li>
  )
}

function About({ file }: { readonly file: FileView }) {
  const locale = useLocale()
  const { owner, size, createdAt } = file
  return (
    <span class={styles.about}>
      <bdi>{capMarks(file.fileName)}</bdi>
      <span class="soft">
        {size !== undefined && `${formatBytes(size, locale)} · `}
        <Time iso={createdAt} />
        {owner && ` · ${shownName(owner.name, owner.idTag)}`}
      </span>
    </span>
  )
}

function Small({ idTag, fileId }: { readonly idTag: string; readonly fileId: string }) {
  const { address } = useRemotePicture(idTag, fileId, 'tn')
  return address === undefined ? <Icon name="image" /> : <img src={address} alt="" width={48} height={48} />
}

interface PictureDialogProps extends Omit<CommunityFileProps, 'role'> {
  readonly onClose: () => void
}

function PictureDialog({ idTag, file, onClose }: PictureDialogProps) {
  const { address, error } = useRemotePicture(idTag, file.fileId, 'hd')
  const fileName = capMarks(file.fileName)
  return (
    <Dialog title={fileName} onClose={onClose}>
      {error !== undefined && <Problem error={error} />}
      {address === undefined && error === undefined && <Loading heights={[320]} />}
      {address !== undefined && <img class={styles.large} src={address} alt={fileName} />}
    </Dialog>
  )
}

function isPicture({ contentType }: FileView): boolean {
  return contentType.startsWith('image/') && !contentType.startsWith('image/svg')
}
