import type { IdTag } from '@kith/protocol'

/** A setting was set or removed. */
export interface SettingEvent {
  readonly kind: 'setting.changed'
  readonly name: string
  /** For every tenant that has no value of its own; else for the tenant where it happened. */
  readonly isForAll: boolean
  readonly byTag: IdTag
}
