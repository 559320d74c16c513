import type { Action, Profile } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Empty } from '#ui/empty.tsx'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Time } from '#ui/time.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesFrom } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './profile-files.module.css'

/** The files that an identity shares with the owner. One that waits for an answer is answered among the notifications. */
export function ProfileFiles({ profile }: { readonly profile: Profile }) {
  const t = useTexts(peopleTexts)
  const shares = useQuery(filesFrom(profile.idTag, ownIdTag()))
  if (!shares.data) return <QueryState query={shares} heights={[60, 60]} />
  if (shares.data.length === 0)
    return (
      <Empty icon="folder-open" title={t.noFiles}>
        {t.noFilesWhy}
      </Empty>
    )
  return (
    <ul class={styles.files} aria-label={t.files}>
      {shares.data.map((share) => (
        <SharedFile key={share.actionId} share={share} name={shownName(profile.name, profile.idTag)} />
      ))}
    </ul>
  )
}

function SharedFile({ share, name }: { readonly share: Action; readonly name: string }) {
  const t = useTexts(peopleTexts)
  const { content = {}, subject = '', status, createdAt } = share
  const isFolder = content.fileTp === 'FLDR'
  const fileName =
    typeof content.fileName === 'string' && content.fileName !== '' ? content.fileName : t.fileFrom(name)
  const id = encodeURIComponent(subject)
  const address = isFolder ? `/files/${id}` : `/files?open=${id}`
  return (
    <li>
      <Link href={status === 'C' ? '/notifications' : address}>
        <Icon name={isFolder ? 'folder' : 'file'} />
        <span>
          <bdi>{fileName}</bdi>
          <span class="soft">
            <Time iso={createdAt} />
            {status === 'C' && `, ${t.fileNew}`}
          </span>
        </span>
      </Link>
    </li>
  )
}
