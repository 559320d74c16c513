import type { Action } from '@kith/protocol'
import { capMarks } from '#lib/shown-text.ts'
import { Icon } from '#ui/icon.tsx'
import { Mismatched } from '#ui/mismatched.tsx'
import { RichText } from '#ui/rich-text.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { EmbeddedPost } from './embedded-post.tsx'
import styles from './post.module.css'
import { contentOf, picturesOf } from './post-content.ts'
import { PostFiles } from './post-files.tsx'
import { PostPictures } from './post-pictures.tsx'
import { postTexts } from './post-texts.ts'
import { SharedFile } from './shared-file.tsx'

const knownTypes = ['POST', 'REPOST', 'SHRE', 'CMNT']

/** What a post says and shows. */
export function PostBody({ post, isWhole = false }: { readonly post: Action; readonly isWhole?: boolean }) {
  const t = useTexts(postTexts)
  if (post.status === 'D') return <p class="soft">{t.isDeleted}</p>
  const { title, text, summary, url, lang } = contentOf(post)
  return (
    <>
      {!knownTypes.includes(post.type) && <p class="soft">{t.unknownType(post.type)}</p>}
      {title && !url && (
        <h2 dir="auto" lang={lang} class={styles.title}>
          {capMarks(title)}
        </h2>
      )}
      {(text || summary) && <RichText text={text || summary} lang={lang} isWhole={isWhole} />}
      {url && <LinkCard url={url} title={title} />}
      <PostPictures pictures={picturesOf(post)} />
      <PostFiles post={post} />
      {post.mismatched && <Mismatched />}
      {post.type === 'SHRE' && <SharedFile post={post} />}
      {(post.type === 'REPOST' || post.type === 'SHRE') && post.subject?.startsWith('a1~') && (
        <EmbeddedPost actionId={post.subject} />
      )}
    </>
  )
}

function LinkCard({ url, title }: { readonly url: string; readonly title: string }) {
  const { hostname } = new URL(url)
  return (
    <a class={styles.file} href={url} target="_blank" rel="noopener nofollow ugc">
      <Icon name="link" />
      <bdi>{capMarks(title) || url}</bdi>
      <span class="soft">{hostname}</span>
    </a>
  )
}
