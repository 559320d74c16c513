import { type Action, type FileView, getFileMetadata } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { formatBytes } from '#lib/format.ts'
import { capMarks } from '#lib/shown-text.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { saveFile } from '#platform/remote-bytes.ts'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { Picture } from '#ui/picture.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useRemotePicture } from '#ui/use-remote-picture.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { feedKey } from './feed-query.ts'
import styles from './post.module.css'
import { contentOf, isFileId } from './post-content.ts'
import { postTexts } from './post-texts.ts'

/** The file that a post shares by naming it: a card that opens or saves it, with a picture of it where it is one. */
export function SharedFile({ post }: { readonly post: Action }) {
  const { subject = '', attachments = [], issuerTag } = post
  // What is attached as well is shown as such.
  if (!isFileId(subject) || attachments.includes(subject)) return null
  return <Card fileId={subject} issuerTag={issuerTag} title={capMarks(contentOf(post).title)} />
}

interface CardProps {
  readonly fileId: string
  readonly issuerTag: string
  readonly title: string
}

function Card({ fileId, issuerTag, title }: CardProps) {
  const t = useTexts(postTexts)
  const { data: found } = useQuery({
    queryKey: [...feedKey, 'file', fileId],
    queryFn: ({ signal }) => findFile(fileId, issuerTag, signal),
    retry: false,
  })
  const isFolder = fileId.startsWith('d1~')
  const name = title || capMarks(found?.file.fileName ?? '') || t.sharedFile
  const words = <Words name={name} isFolder={isFolder} size={found?.file.size} />
  const id = encodeURIComponent(fileId)
  if (found?.isHere)
    return (
      <Link class={styles.shared} href={isFolder ? `/files/${id}` : `/files?open=${id}`}>
        {isPicture(found.file) && (
          <span class={styles.sharedPicture}>
            <Picture {...found.file} alt="" variant="sd" isFilling />
          </span>
        )}
        {words}
      </Link>
    )
  if (!found || isFolder) return <div class={styles.shared}>{words}</div>
  return (
    <Remote file={found.file} issuerTag={issuerTag}>
      {words}
    </Remote>
  )
}

/** At home, where it is one's own or was accepted; else at who shares it. */
async function findFile(fileId: string, issuerTag: string, signal: AbortSignal) {
  const request = { params: { fileId } }
  try {
    return { file: (await client.call(getFileMetadata, request, { signal })).data, isHere: true }
  } catch {
    const { data } = await client.at(issuerTag).call(getFileMetadata, request, { signal })
    return { file: data, isHere: false }
  }
}

interface RemoteProps {
  readonly file: FileView
  readonly issuerTag: string
  readonly children: ComponentChildren
}

function Remote({ file, issuerTag, children }: RemoteProps) {
  const t = useTexts(postTexts)
  const explain = useExplain()
  const save = () =>
    saveFile(issuerTag, file).catch((error: unknown) =>
      notify(`${t.notSaved} ${explain(error)}`, { kind: 'failed' }),
    )
  return (
    <button type="button" class={styles.shared} title={t.saveFile} onClick={() => void save()}>
      {isPicture(file) && <RemotePicture fileId={file.fileId} issuerTag={issuerTag} />}
      {children}
    </button>
  )
}

function RemotePicture({ fileId, issuerTag }: { readonly fileId: string; readonly issuerTag: string }) {
  const { address } = useRemotePicture(issuerTag, fileId, 'sd')
  return <span class={styles.sharedPicture}>{address !== undefined && <img src={address} alt="" />}</span>
}

interface WordsProps {
  readonly name: string
  readonly isFolder: boolean
  readonly size: number | undefined
}

function Words({ name, isFolder, size }: WordsProps) {
  const locale = useLocale()
  return (
    <span class={styles.sharedName}>
      <Icon name={isFolder ? 'folder' : 'file'} />
      <bdi>{name}</bdi>
      {size !== undefined && !isFolder && <span class="soft">{formatBytes(size, locale)}</span>}
    </span>
  )
}

function isPicture({ contentType }: FileView): boolean {
  return contentType.startsWith('image/') && !contentType.startsWith('image/svg')
}
