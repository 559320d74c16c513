/** Which values a setting takes, in words of JSON Schema. */
export type SettingType =
  | SimpleType
  | { readonly type: 'array'; readonly items: TextType; readonly maxItems: number }
  | { readonly anyOf: readonly SimpleType[] }

type SimpleType = { readonly type: 'boolean' } | NumberType | TextType

interface NumberType {
  readonly type: 'integer' | 'number'
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

interface TextType {
  readonly type: 'string'
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly maxLength?: number
}

type ValueOf<Type> = Type extends { anyOf: readonly (infer Part)[] }
  ? SimpleValueOf<Part>
  : Type extends { type: 'array' }
    ? readonly string[]
    : SimpleValueOf<Type>

type SimpleValueOf<Type> = Type extends { type: 'boolean' }
  ? boolean
  : Type extends NumberType
    ? number
    : Type extends { enum: readonly (infer Word)[] }
      ? Word
      : string

/** What is known of a setting. */
export interface SettingDefinition<Type extends SettingType = SettingType> {
  /** Where the API sets it unless told otherwise: nowhere, for all tenants, for one tenant. */
  readonly scope: 'system' | 'global' | 'tenant'
  /** Who may change it: no one, SADM, the tenant's owner. */
  readonly permission: 'system' | 'admin' | 'user'
  readonly type: Type
  readonly default: ValueOf<Type>
  /** What it does, for people. */
  readonly sentence: string
  /** Sealed where it is stored, and never shown. */
  readonly isSecret?: true
  /** Read for the whole server alone: a tenant has no value of its own. */
  readonly isServerWide?: true
  /** Only SADM may see it. */
  readonly isAdminOnly?: true
  /** Only the owner of the base tenant may change it: whoever can has the same power as the owner. */
  readonly isOwnerOnly?: true
}

/** Declares a setting, with the type of its value. */
/* @__NO_SIDE_EFFECTS__ */
export function define<const Type extends SettingType>(
  definition: SettingDefinition<Type>,
): SettingDefinition<Type> {
  return definition
}
