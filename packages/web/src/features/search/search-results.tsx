import type { Action, FileView, Profile } from '@kith/protocol'
import type { UseQueryResult } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { shownIdTag, shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Time } from '#ui/time.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './search-screen.module.css'
import { searchTexts } from './search-texts.ts'

type Found<Item> = UseQueryResult<readonly Item[]>

function Section<Item>({
  title,
  query,
  children,
}: {
  readonly title: string
  readonly query: Found<Item>
  readonly children: (item: Item) => ComponentChildren
}) {
  const t = useTexts(searchTexts)
  if (!query.data) return <QueryState query={query} heights={[120]} what={t.failed(title)} />
  if (query.data.length === 0) return null
  return (
    <section class="card">
      <h2>{title}</h2>
      <ul class={styles.hits}>{query.data.map(children)}</ul>
    </section>
  )
}

/** An identity that was written whole may live on any server. */
export function LookUp({ idTag }: { readonly idTag: string }) {
  const t = useTexts(searchTexts)
  return (
    <Link class={`card ${styles.hit}`} href={`/profiles/${encodeURIComponent(idTag)}`}>
      <Icon name="globe" />
      <span>{t.lookUp(idTag)}</span>
    </Link>
  )
}

export function PersonHits({ query }: { readonly query: Found<Profile> }) {
  const t = useTexts(searchTexts)
  return (
    <Section title={t.people} query={query}>
      {({ idTag, name, profilePic }) => (
        <li key={idTag}>
          <Link class={styles.hit ?? ''} href={`/profiles/${encodeURIComponent(idTag)}`}>
            <Avatar idTag={idTag} name={name} hasPicture={profilePic !== undefined} />
            <span>
              <strong dir="auto">{shownName(name, idTag)}</strong>
              <small>{shownIdTag(idTag)}</small>
            </span>
          </Link>
        </li>
      )}
    </Section>
  )
}

export function PostHits({ query }: { readonly query: Found<Action> }) {
  const t = useTexts(searchTexts)
  return (
    <Section title={t.posts} query={query}>
      {({ actionId, issuer, issuerTag, content, createdAt }) => (
        <li key={actionId}>
          <Link class={styles.hit ?? ''} href={`/posts/${encodeURIComponent(actionId)}`}>
            <Avatar idTag={issuerTag} name={issuer.name} hasPicture={issuer.profilePic !== undefined} />
            <span>
              <strong dir="auto">{shownName(issuer.name, issuerTag)}</strong>
              <span class={styles.excerpt} dir="auto">
                {typeof content?.text === 'string' ? excerptOf(content.text, 200) : ''}
              </span>
              <small>
                <Time iso={createdAt} />
              </small>
            </span>
          </Link>
        </li>
      )}
    </Section>
  )
}

export function FileHits({ query }: { readonly query: Found<FileView> }) {
  const t = useTexts(searchTexts)
  return (
    <Section title={t.files} query={query}>
      {(file) => (
        <li key={file.fileId}>
          <Link class={styles.hit ?? ''} href={placeOf(file)}>
            <Icon name={file.fileTp === 'FLDR' ? 'folder' : 'file'} />
            <span dir="auto">{file.fileName}</span>
          </Link>
        </li>
      )}
    </Section>
  )
}

/** A folder is opened; a file is shown in the folder in which it lies. */
function placeOf({ fileTp, fileId, parentId }: FileView): string {
  const folder = fileTp === 'FLDR' ? fileId : parentId
  return folder ? `/files/${encodeURIComponent(folder)}` : '/files'
}
