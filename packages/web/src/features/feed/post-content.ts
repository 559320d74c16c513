import type { Action, AttachedFile } from '@kith/protocol'
import { isWebAddress } from '#lib/text-parts.ts'

/** What an action says, whatever its content holds. */
export interface PostContent {
  readonly title: string
  readonly text: string
  readonly summary: string
  /** An address of the web. */
  readonly url: string | undefined
  /** The language that it says it is in, as BCP 47 writes it. */
  readonly lang: string | undefined
}

export function contentOf({ content }: Pick<Action, 'content'>): PostContent {
  const member = (name: string) => {
    const value: unknown = content?.[name]
    return typeof value === 'string' ? value : ''
  }
  const url = member('url')
  return {
    title: member('title'),
    text: member('text'),
    summary: member('summary'),
    url: isWebAddress(url) ? url : undefined,
    lang: languageOf(member('lang')),
  }
}

function languageOf(tag: string): string | undefined {
  try {
    return tag.length > 35 ? undefined : Intl.getCanonicalLocales(tag || [])[0]
  } catch {
    return undefined
  }
}

/** Whether a subject is a file, a document, a database or a folder. */
export function isFileId(subject: string): boolean {
  return /^[bfrd]1~[\w-]{43}$/.test(subject)
}

/** The pictures that a page may show as such: SVG is none. */
export function picturesOf({ files = [] }: Pick<Action, 'files'>): AttachedFile[] {
  return files.filter(isPicture)
}

export function otherFilesOf({ files = [] }: Pick<Action, 'files'>): AttachedFile[] {
  return files.filter((file) => !isPicture(file))
}

/** How many attachments this server has not fetched, or has no more. */
export function absentFilesOf({
  files = [],
  attachments = [],
}: Pick<Action, 'files' | 'attachments'>): number {
  return Math.max(0, attachments.length - files.length)
}

function isPicture({ contentType }: AttachedFile): boolean {
  return contentType.startsWith('image/') && !contentType.startsWith('image/svg')
}
