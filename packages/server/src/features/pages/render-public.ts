import type { PublicOwner, ShownPage, ShownPost } from './find-public.ts'
import { followPart } from './follow-elsewhere.ts'
import { escapeHtml, frame } from './html.ts'
import type { PageLanguage } from './page-language.ts'
import { type PageTexts, pageTexts } from './page-texts.ts'

interface Place {
  readonly language: PageLanguage
  /** The origin of the tenant. */
  readonly url: string
}

// What a page shows of a long post; the rest stands on the page of the post. Twenty of them are some 20 kB.
const excerptLength = 1000
const descriptionLength = 300

/** The public page of a person or a community: an h-feed of h-entries by an h-card (microformats2), and Open Graph for link
 * previews. Needs no script. */
export function renderPublicPage(
  { owner, posts, nextCursor }: ShownPage,
  { language, url, isNewest }: Place & { readonly isNewest: boolean },
): string {
  const texts = pageTexts[language]
  const older =
    nextCursor === null ? '' : link(`/?before=${encodeURIComponent(nextCursor)}`, texts.olderPosts, 'next')
  const newest = isNewest ? '' : link('/', texts.newestPosts)
  const main = `${cardOf(owner, texts, url)}
${followPart(owner, language)}
<section class="h-feed" aria-labelledby="posts-title">
<h2 id="posts-title" class="p-name">${texts.posts}</h2>
${posts.length === 0 ? `<p>${texts.noPosts}</p>` : posts.map((post) => entryOf(post, { owner, language, url, isWhole: false })).join('\n')}
${older}
${newest}
</section>`
  const about = {
    title: clean(owner.name),
    description: owner.bio,
    path: '/',
    type: 'profile',
    picture: owner.pictureId,
  }
  return publicFrame({ language, url, owner, about, main })
}

/** The page of one public post. */
export function renderPublicPost(
  { owner, post }: { readonly owner: PublicOwner; readonly post: ShownPost },
  { language, url }: Place,
): string {
  const texts = pageTexts[language]
  const title = clean(post.title ?? texts.postBy.replace('{name}', () => post.issuer.name))
  const about = {
    title,
    description: post.summary ?? post.text,
    path: pathOf(post),
    type: 'article',
    picture: post.pictures[0]?.fileId ?? owner.pictureId,
  }
  const main = `${entryOf(post, { owner, language, url, isWhole: true })}
<p><a href="/"><bdi>${escapeHtml(clean(owner.name))}</bdi></a></p>
${followPart(owner, language)}`
  return publicFrame({ language, url, owner, about, main })
}

interface About {
  readonly title: string
  readonly description: string | undefined
  readonly path: string
  readonly type: string
  readonly picture: string | undefined
}

function publicFrame({
  language,
  url,
  owner,
  about,
  main,
}: Place & { readonly owner: PublicOwner; readonly about: About; readonly main: string }): string {
  const { title, description, path, type, picture } = about
  const properties: [string, string | undefined][] = [
    ['og:title', title],
    ['og:type', type],
    ['og:url', url + path],
    ['og:site_name', owner.idTag],
    ['og:description', description && shorten(clean(description), descriptionLength)],
    ['og:image', picture && `${url}${pictureOf(picture, 'sd')}`],
  ]
  const tags = properties.flatMap(([property, content]) =>
    content ? [`<meta property="${property}" content="${escapeHtml(content)}">`] : [],
  )
  const canonical = `<link rel="canonical" href="${escapeHtml(url + path)}">`
  const head = [canonical, ...tags].join('\n')
  return frame({
    language,
    title: `${escapeHtml(title)} – ${escapeHtml(owner.idTag)}`,
    head,
    bodyAttributes: '',
    main,
  })
}

function cardOf({ idTag, name, type, bio, pictureId }: PublicOwner, texts: PageTexts, url: string): string {
  const picture =
    pictureId === undefined
      ? ''
      : `<img class="u-photo avatar" src="${escapeHtml(pictureOf(pictureId, 'tn'))}" alt="" width="96" height="96">`
  const onward =
    type === 'community' ? `<p class="hint">${texts.community}</p>` : link('/login', texts.signIn)
  return `<header class="h-card">
${picture}
<h1><a class="p-name u-url u-uid" href="${escapeHtml(url)}/"><bdi>${escapeHtml(clean(name))}</bdi></a></h1>
<p class="p-nickname">${escapeHtml(idTag)}</p>
${bio === undefined ? '' : `<div class="p-note">${paragraphs(bio)}</div>`}
</header>
${onward}`
}

interface Entry extends Place {
  readonly owner: PublicOwner
  readonly isWhole: boolean
}

function entryOf(post: ShownPost, { owner, language, url, isWhole }: Entry): string {
  const { issuer, title, summary, text, createdAt, pictures } = post
  const path = escapeHtml(pathOf(post))
  const heading = isWhole ? 'h1' : 'h3'
  const body = text === undefined ? '' : isWhole ? text : shorten(text, excerptLength)
  const isCut = text !== undefined && body.length < text.length
  const author = `<a class="p-author h-card" href="${escapeHtml(issuer.idTag === owner.idTag ? `${url}/` : `https://${issuer.idTag}/`)}"><bdi>${escapeHtml(clean(issuer.name))}</bdi></a>`
  return `<article class="h-entry">
${title === undefined ? '' : `<${heading} class="p-name" dir="auto">${escapeHtml(clean(title))}</${heading}>`}
<p class="hint">${author} · <a class="u-url" href="${path}"><time class="dt-published" datetime="${createdAt}">${timeOf(createdAt, language)}</time></a></p>
${summary === undefined ? '' : `<div class="p-summary">${paragraphs(summary)}</div>`}
<div class="e-content">${paragraphs(body)}</div>
${isCut ? link(pathOf(post), pageTexts[language].readOn) : ''}
${pictures.map(({ fileId, alt }) => `<img class="u-photo preview" src="${escapeHtml(pictureOf(fileId, 'sd'))}" alt="${escapeHtml(clean(alt))}" loading="lazy">`).join('\n')}
</article>`
}

function pathOf({ actionId }: ShownPost): string {
  return `/posts/${encodeURIComponent(actionId)}`
}

function pictureOf(fileId: string, variant: 'tn' | 'sd'): string {
  return `/api/files/${encodeURIComponent(fileId)}?variant=${variant}`
}

function link(path: string, content: string, rel?: string): string {
  return `<p><a href="${escapeHtml(path)}"${rel === undefined ? '' : ` rel="${rel}"`}>${content}</a></p>`
}

/** Paragraphs and line ends as they were written; each finds its own direction, and none turns what stands after it. */
function paragraphs(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((part) => `<p dir="auto">${escapeHtml(visible(part)).replaceAll('\n', '<br>')}</p>`)
    .join('')
}

/** One line, as titles and names are shown. */
function clean(text: string): string {
  return visible(text).replaceAll(/\s+/g, ' ').trim()
}

/** Without control characters, and without what turns the direction of the text around it. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Bidi_Control}]|(?!\n)\p{Cc}/gu, ' ')
}

/** At most so many characters, none of them cut in two. */
function shorten(text: string, maxLength: number): string {
  const characters = [...text.slice(0, 2 * maxLength)]
  return characters.length <= maxLength && text.length <= 2 * maxLength
    ? text
    : `${characters.slice(0, maxLength).join('')}…`
}

const dateLocales: Record<PageLanguage, string> = { en: 'en-GB', de: 'de' }

function timeOf(createdAt: string, language: PageLanguage): string {
  return new Intl.DateTimeFormat(dateLocales[language], { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(createdAt),
  )
}
