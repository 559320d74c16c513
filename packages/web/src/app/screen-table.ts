import type { IconName } from '#ui/icon-names.ts'
import type { appTexts } from './app-texts.ts'

/** What the shell, the navigation and the tests know of a screen. */
export interface ScreenRow {
  /** Of its title among the texts. */
  readonly name: keyof (typeof appTexts)['en'] & `title:${string}`
  /** As `wouter` writes it: `/posts/:actionId`. */
  readonly path: string
  /** The endpoint without which it is of no use: an older server may not have it. */
  readonly needs?: `/api/${string}`
  /** Whether it is a dialog over the screen before where there is room. */
  readonly isOver?: true
  /** What its third column is called, where it has one and there is room for it. */
  readonly aside?: keyof (typeof appTexts)['en'] & `aside:${string}`
  /** Its place in the navigation, and the letter after `g` that leads there. */
  readonly nav?: {
    readonly icon: IconName
    readonly key: string
    readonly isInBar: boolean
    /** Where it is called otherwise than its screen. */
    readonly label?: keyof (typeof appTexts)['en'] & `nav:${string}`
  }
}

/** All screens; those of the navigation in its order. What is not in the bar of a phone is in the menu above. */
export const screenTable = [
  {
    name: 'title:home',
    path: '/',
    aside: 'aside:home',
    nav: { icon: 'house', key: 'h', isInBar: true },
  },
  {
    name: 'title:messages',
    path: '/messages',
    needs: '/api/conversations',
    nav: { icon: 'messages-square', key: 'm', isInBar: true },
  },
  { name: 'title:conversation', path: '/messages/:conversationId', needs: '/api/conversations' },
  {
    name: 'title:new',
    path: '/new',
    isOver: true,
    nav: { icon: 'square-pen', key: 'n', isInBar: true, label: 'nav:new' },
  },
  { name: 'title:drafts', path: '/new/drafts' },
  {
    name: 'title:files',
    path: '/files',
    aside: 'aside:files',
    nav: { icon: 'folder', key: 'd', isInBar: true },
  },
  { name: 'title:photos', path: '/files/photos', needs: '/api/files/timeline' },
  { name: 'title:files', path: '/files/:folderId', aside: 'aside:files' },
  { name: 'title:notifications', path: '/notifications', nav: { icon: 'bell', key: 'i', isInBar: false } },
  { name: 'title:search', path: '/search', nav: { icon: 'search', key: 'f', isInBar: false } },
  { name: 'title:people', path: '/people', nav: { icon: 'users', key: 'p', isInBar: false } },
  { name: 'title:profile', path: '/profiles/:idTag' },
  { name: 'title:communities', path: '/communities', nav: { icon: 'network', key: 'c', isInBar: false } },
  { name: 'title:community', path: '/communities/:idTag' },
  { name: 'title:bookmarks', path: '/bookmarks', nav: { icon: 'bookmark', key: 'b', isInBar: false } },
  { name: 'title:post', path: '/posts/:actionId', aside: 'aside:post' },
  {
    name: 'title:settings',
    path: '/settings',
    nav: { icon: 'user', key: 's', isInBar: true, label: 'nav:you' },
  },
  { name: 'title:settings-look', path: '/settings/look' },
  { name: 'title:settings-notifications', path: '/settings/notifications' },
  { name: 'title:settings-privacy', path: '/settings/privacy' },
  { name: 'title:settings-security', path: '/settings/security' },
  { name: 'title:settings-sessions', path: '/settings/sessions', needs: '/api/auth/sessions' },
  { name: 'title:settings-keys', path: '/settings/keys', needs: '/api/auth/api-keys' },
  { name: 'title:settings-storage', path: '/settings/storage', needs: '/api/me/usage' },
  { name: 'title:settings-data', path: '/settings/data', needs: '/api/export' },
  { name: 'title:settings-log', path: '/settings/log', needs: '/api/audit' },
  { name: 'title:welcome', path: '/welcome' },
] as const satisfies readonly ScreenRow[]
