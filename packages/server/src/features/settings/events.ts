import type { IdTag } from '@kith/protocol'

/** A setting was set or removed. The tenant is that of the user; the setting may be the server's. */
export interface SettingEvent {
  readonly kind: 'setting.changed'
  readonly name: string
  readonly byTag: IdTag
}
