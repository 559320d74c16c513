import type { SettingDefinition } from '@kith/protocol'

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
