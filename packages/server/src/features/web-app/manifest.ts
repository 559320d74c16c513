import type { AppColors } from './app-colors.ts'

/** Who the app on a host belongs to. */
export interface AppOwner {
  readonly idTag: string
  readonly name: string
  /** A file that everybody may see. */
  readonly pictureId: string | undefined
}

export type AppLanguage = 'en' | 'de'

const shortcutNames = {
  en: { post: 'New post', messages: 'Messages', files: 'Files' },
  de: { post: 'Neuer Beitrag', messages: 'Nachrichten', files: 'Dateien' },
} as const satisfies Readonly<Record<AppLanguage, unknown>>

/** The description of the app for browsers that install it (W3C, Web Application Manifest). */
export function manifestOf(
  { idTag, name, pictureId }: AppOwner,
  language: AppLanguage,
  { theme, background }: AppColors,
): string {
  const t = shortcutNames[language]
  const shown = name.trim() === '' ? idTag : name
  return JSON.stringify({
    id: '/',
    lang: language,
    name: shown,
    short_name: shown,
    start_url: '/',
    scope: '/',
    display: 'standalone',
    theme_color: theme,
    background_color: background,
    icons: pictureId === undefined ? [bundledIcon] : iconsOf(pictureId),
    shortcuts: [
      { name: t.post, url: '/new' },
      { name: t.messages, url: '/messages' },
      { name: t.files, url: '/files' },
    ],
    share_target: {
      action: '/new/shared',
      method: 'POST',
      enctype: 'multipart/form-data',
      params: { title: 'title', text: 'text', url: 'url', files: [{ name: 'files', accept: sharedTypes }] },
    },
  })
}

// All kinds that a post can have; browsers take no `*/*` here.
const sharedTypes = ['image/*', 'video/*', 'audio/*', 'text/*', 'application/*']

const bundledIcon = { src: '/assets/icon.svg', sizes: 'any', type: 'image/svg+xml' }

/** Pictures of profiles are squares, of 400 pixels and 150 where theirs were as large. */
function iconsOf(pictureId: string): object[] {
  const address = `/api/files/${encodeURIComponent(pictureId)}?variant=`
  return [
    { src: `${address}tn`, sizes: '150x150' },
    { src: `${address}sd`, sizes: '400x400' },
  ]
}
