import type { IconName } from '#ui/icon-names.ts'

/** The screens of the settings, in the order of the overview; `name` is that of its title among the texts. */
export const sections = [
  { name: 'look', path: '/settings/look', icon: 'eye' },
  { name: 'notifications', path: '/settings/notifications', icon: 'bell' },
  { name: 'privacy', path: '/settings/privacy', icon: 'lock' },
  { name: 'security', path: '/settings/security', icon: 'shield' },
  { name: 'sessions', path: '/settings/sessions', icon: 'smartphone' },
  { name: 'keys', path: '/settings/keys', icon: 'key-round' },
  { name: 'storage', path: '/settings/storage', icon: 'folder' },
  { name: 'data', path: '/settings/data', icon: 'download' },
  { name: 'log', path: '/settings/log', icon: 'list' },
] as const satisfies readonly { name: string; path: string; icon: IconName }[]
