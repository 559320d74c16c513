import type { ComponentType } from 'preact'
import { useUnreadMessages } from '#features/messages/index.ts'
import { useNewNotifications } from '#features/notifications/index.ts'
import { type ScreenRow, screenTable } from './screen-table.ts'

/** A screen with its code, which is loaded when it is shown first. */
export interface Screen extends ScreenRow {
  readonly load: () => Promise<ComponentType<{ readonly params: Readonly<Record<string, string>> }>>
  /** A hook: what is new there, which the navigation shows. */
  readonly useCount?: () => number
}

const loadFiles = async () => (await import('#features/files/screens.ts')).FilesScreen
const loadMessages = async () => (await import('#features/messages/screens.ts')).MessagesScreen

const loads: Readonly<Record<(typeof screenTable)[number]['path'], Screen['load']>> = {
  '/': async () => (await import('#features/feed/screens.ts')).HomeScreen,
  '/messages': loadMessages,
  '/messages/:conversationId': loadMessages,
  '/notifications': async () => (await import('#features/notifications/screens.ts')).NotificationsScreen,
  '/new': async () => (await import('#features/compose/screens.ts')).NewScreen,
  '/new/drafts': async () => (await import('#features/compose/screens.ts')).DraftsScreen,
  '/files': loadFiles,
  '/files/photos': async () => (await import('#features/files/screens.ts')).PhotosScreen,
  '/files/:folderId': loadFiles,
  '/search': async () => (await import('#features/search/screens.ts')).SearchScreen,
  '/bookmarks': async () => (await import('#features/feed/screens.ts')).BookmarksScreen,
  '/posts/:actionId': async () => (await import('#features/feed/screens.ts')).PostScreen,
  '/settings': async () => (await import('#features/settings/screens.ts')).OverviewScreen,
  '/settings/look': async () => (await import('#features/settings/screens.ts')).LookScreen,
  '/settings/notifications': async () => (await import('#features/settings/screens.ts')).NotificationsScreen,
  '/settings/privacy': async () => (await import('#features/settings/screens.ts')).PrivacyScreen,
  '/settings/security': async () => (await import('#features/settings/screens.ts')).SecurityScreen,
  '/settings/sessions': async () => (await import('#features/settings/screens.ts')).SessionsScreen,
  '/settings/keys': async () => (await import('#features/settings/screens.ts')).KeysScreen,
  '/settings/storage': async () => (await import('#features/settings/screens.ts')).StorageScreen,
  '/settings/data': async () => (await import('#features/settings/screens.ts')).DataScreen,
  '/settings/log': async () => (await import('#features/settings/screens.ts')).LogScreen,
  '/welcome': async () => (await import('#features/welcome/screens.ts')).WelcomeScreen,
  '/people': async () => (await import('#features/people/screens.ts')).PeopleScreen,
  '/profiles/:idTag': async () => (await import('#features/people/screens.ts')).ProfileScreen,
  '/communities': async () => (await import('#features/communities/screens.ts')).CommunitiesScreen,
  '/communities/:idTag': async () => (await import('#features/communities/screens.ts')).CommunityScreen,
}

const counts: Readonly<Partial<Record<string, () => number>>> = {
  '/messages': useUnreadMessages,
  '/notifications': useNewNotifications,
}

export const screens: readonly Screen[] = screenTable.map((row) => {
  const useCount = counts[row.path]
  return { ...row, load: loads[row.path], ...(useCount ? { useCount } : {}) }
})
