import type { Static, TSchema } from 'typebox'

/** What is known of a setting. */
export interface SettingDefinition<Type extends TSchema = TSchema> {
  /** Where the API sets it unless told otherwise: nowhere, for all tenants, for one tenant. */
  readonly scope: 'system' | 'global' | 'tenant'
  /** Who may change it: no one, SADM, the tenant's owner. */
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

interface Described {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Described[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

/** What values a setting takes, in words: `integer, 1 to 100`. Each choice goes through `quote`. */
export function describeType(
  { type }: Pick<SettingDefinition, 'type'>,
  quote: (choice: string) => string = (choice) => choice,
): string {
  const describe = ({ type: name = '', enum: choices, anyOf, ...bounds }: Described): string => {
    if (anyOf) return anyOf.map(describe).join(' or ')
    if (choices) return choices.map(quote).join(', ')
    const { minimum, exclusiveMinimum, maximum } = bounds
    if (exclusiveMinimum !== undefined) return `${name}, above ${exclusiveMinimum} and up to ${maximum}`
    return minimum === undefined || maximum === undefined ? name : `${name}, ${minimum} to ${maximum}`
  }
  return describe(type as Described)
}
