import type { IdTag } from '@kith/protocol'

/** Somebody has set a setting, or taken it back; the tenant is theirs, the setting may be the server's. */
export interface SettingEvent {
  readonly kind: 'setting.changed'
  readonly name: string
  readonly byTag: IdTag
}
