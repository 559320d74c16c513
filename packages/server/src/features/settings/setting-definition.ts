import type { Static, TSchema } from 'typebox'

/** What is known of a setting. */
export interface SettingDefinition<Type extends TSchema = TSchema> {
  /** Where the API sets it unless told otherwise: nowhere, for all tenants, for one tenant. */
  readonly scope: 'system' | 'global' | 'tenant'
  /** Who may change it: nobody, SADM, the tenant's owner. */
  readonly permission: 'system' | 'admin' | 'user'
  readonly type: Type
  readonly default: Static<Type>
  /** What it does, for the documentation. */
  readonly sentence: string
  /** Sealed where it is stored, and never shown. */
  readonly isSecret?: true
  /** Only SADM may see it. */
  readonly isAdminOnly?: true
}

export function define<Type extends TSchema>(definition: SettingDefinition<Type>): SettingDefinition<Type> {
  return definition
}
