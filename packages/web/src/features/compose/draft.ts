import type { Action, FileView, NewAction, Visibility } from '@kith/protocol'

/** A file of a draft; without `fileId` it is not on the server yet. */
export interface DraftFile {
  readonly key: string
  readonly fileName: string
  readonly contentType: string
  readonly size: number
  readonly fileId?: string
  readonly alt?: string
  /** Who sees it already, where that is known; absent for what was added to this draft alone. */
  readonly seenBy?: Visibility
}

/** What is sent of a draft, but for `draft` and `idempotencyKey`. */
export type DraftBody = Pick<
  NewAction,
  'type' | 'content' | 'attachments' | 'visibility' | 'audienceTag' | 'expiresAt' | 'subject'
>

/** A post that is being written. */
export interface Draft {
  /** Of this browser. */
  readonly id: string
  /** Where the composer was opened: `home`, or the identity of a community. */
  readonly place: string
  readonly text: string
  /** The language of the text, as BCP 47 writes it; empty or absent where that is not said. */
  readonly lang?: string | undefined
  /** A visibility, or one and the community it is for: `C`, `P:club.example.com`. */
  readonly audience: string
  readonly files: readonly DraftFile[]
  /** Local date and time, as `datetime-local` has them; empty: at once, and for ever. */
  readonly publishAt: string
  readonly expiresAt: string
  readonly changedAt: number
  /** The draft on the server, and the body that it has. */
  readonly actionId?: string | undefined
  readonly saved?: string | undefined
  /** A creation whose answer is not known: it is repeated with the same key, so that it makes one draft. */
  readonly creating?: { readonly key: string; readonly body: DraftBody } | undefined
  /** The post that this one shows, with what is said about it. */
  readonly quotes?: string | undefined
  /** The post that is deleted once this one is shared. */
  readonly replaces?: string | undefined
  /** Put aside for another one. */
  readonly isParked?: boolean | undefined
  /** Its author has shared it: when it leaves. */
  readonly leavesAt?: number | undefined
}

export const maxTextLength = 50_000
export const maxAltLength = 1_500
export const maxFiles = 50

/** In code points, as the server counts. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

export function isEmpty({ text, files }: Pick<Draft, 'text' | 'files'>): boolean {
  return text.trim() === '' && files.length === 0
}

export function isPicture({ contentType }: Pick<DraftFile, 'contentType'>): boolean {
  return contentType.startsWith('image/')
}

const visibilities = ['P', 'V', 'F', 'C'] as const

/** Visibility and community of an audience; an unknown visibility is the narrowest. */
export function readAudience(audience: string): {
  readonly visibility: (typeof visibilities)[number]
  readonly community: string | undefined
} {
  const [code, community] = audience.split(':')
  return { visibility: visibilities.find((known) => known === code) ?? 'C', community }
}

/** Whether any of the files is shown to more people than have seen it so far. */
export function isWider({ files, audience }: Pick<Draft, 'files' | 'audience'>): boolean {
  const rank = (visibility: Visibility) => (visibility === null ? 4 : visibilities.indexOf(visibility))
  const wanted = rank(readAudience(audience).visibility)
  return files.some(({ seenBy }) => seenBy !== undefined && rank(seenBy) > wanted)
}

/** What the server is sent of a draft. */
export function bodyOf(draft: Draft): DraftBody {
  const { visibility, community } = readAudience(draft.audience)
  const there = draft.files.filter(({ fileId }) => fileId !== undefined)
  const alt = Object.fromEntries(there.flatMap(({ fileId, alt }) => (fileId && alt ? [[fileId, alt]] : [])))
  return {
    ...(draft.quotes === undefined ? { type: 'POST' } : { type: 'SHRE', subject: draft.quotes }),
    content: {
      ...(draft.text === '' ? {} : { text: draft.text }),
      ...(draft.lang ? { lang: draft.lang } : {}),
      ...(Object.keys(alt).length > 0 ? { alt } : {}),
    },
    attachments: there.flatMap(({ fileId }) => fileId ?? []),
    visibility,
    ...(community === undefined ? {} : { audienceTag: community as NonNullable<DraftBody['audienceTag']> }),
    ...(draft.expiresAt === '' ? {} : { expiresAt: momentOf(draft.expiresAt) }),
  } as DraftBody
}

/** A file of the server as a draft has it, with who can see it now. */
export function draftFileOf({ fileId, fileName, contentType, size = 0, visibility }: FileView): DraftFile {
  return { key: fileId, fileId, fileName, contentType, size, seenBy: visibility }
}

/** Unix seconds of a local date and time. */
export function momentOf(local: string): number {
  return Math.floor(new Date(local).getTime() / 1000)
}

/** A moment as `datetime-local` has it: local, to the minute. */
export function localOf(unixSecs: number): string {
  const date = new Date(unixSecs * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/** What a change cannot reach: a draft on the server that differs in these is made anew. */
export function fixedOf({ audienceTag, expiresAt, subject }: DraftBody): string {
  return JSON.stringify([audienceTag, expiresAt, subject])
}

export type TimeProblem = 'past' | 'order' | 'far'

const farthestSecs = 10 * 365 * 86_400

/** What is wrong with the times of a draft, as the server would say. */
export function timeProblem(
  { publishAt, expiresAt }: Pick<Draft, 'publishAt' | 'expiresAt'>,
  nowMs: number,
): { readonly publishAt?: TimeProblem; readonly expiresAt?: TimeProblem } {
  const now = nowMs / 1000
  const leaves = publishAt === '' ? now : momentOf(publishAt)
  if (leaves < now) return { publishAt: 'past' }
  if (leaves > now + farthestSecs) return { publishAt: 'far' }
  if (expiresAt !== '' && momentOf(expiresAt) <= now) return { expiresAt: 'past' }
  return expiresAt !== '' && momentOf(expiresAt) <= leaves ? { expiresAt: 'order' } : {}
}

/** The members of a draft that an action gives: one's own draft, or a post to write again. */
export function contentsOf(
  action: Action,
): Pick<Draft, 'text' | 'audience' | 'files' | 'publishAt' | 'expiresAt' | 'quotes' | 'lang'> {
  const { type, subject, visibility, audienceTag, expiresAt, publishAt, files = [], content, status } = action
  const isDraft = status === 'R' || status === 'S'
  return {
    ...(type === 'SHRE' && subject?.startsWith('a1~') ? { quotes: subject } : {}),
    ...(typeof content?.lang === 'string' ? { lang: content.lang } : {}),
    text: typeof content?.text === 'string' ? content.text : '',
    audience: (visibility ?? 'C') + (audienceTag === undefined ? '' : `:${audienceTag}`),
    files: files.map(({ fileId, fileName, contentType, size, alt }) => ({
      key: fileId,
      fileId,
      fileName,
      contentType,
      size,
      ...(alt === undefined ? {} : { alt }),
      ...(isDraft ? {} : { seenBy: visibility }),
    })),
    publishAt: status === 'S' && publishAt !== undefined ? localOf(publishAt) : '',
    expiresAt: isDraft && expiresAt !== undefined ? localOf(expiresAt) : '',
  }
}
