import { hasLargeNumber, type SettingDefinition, type SettingName, settingDefinitions } from '@kith/protocol'
import { Compile, type Validator } from 'typebox/compile'
import { Failure, invalid } from '#lib/failure.ts'
import { nearestName } from '#lib/nearest-name.ts'
import { describeType } from './describe-type.ts'
import { findDefinition, settingNames } from './setting-names.ts'

const freeForm = /^(?:ui|app)(?:\.[A-Za-z0-9_-]+)+$/
const longestName = 128
const maxValueKb = settingDefinitions['limits.max_setting_kb'].default

/** A known name: a defined setting, or a free one that clients may use as they like. */
export type KnownName =
  | { readonly kind: 'defined'; readonly name: SettingName; readonly definition: SettingDefinition }
  | { readonly kind: 'free'; readonly name: string }

/** `E-NOTFOUND` for a name that is neither defined nor free. */
export function getKnownName(name: string): KnownName {
  const definition = findDefinition(name)
  if (definition) return { kind: 'defined', name: name as SettingName, definition }
  if (name.length <= longestName && freeForm.test(name)) return { kind: 'free', name }
  const nearest = nearestName(name, settingNames) ?? settingNames.find((known) => known.endsWith(`.${name}`))
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Failure('E-NOTFOUND', { message: `There is no such setting.${hint}` })
}

/** The value of a PUT body: `{value}`, or the value itself. */
export function valueOfBody(body: unknown): unknown {
  const isWrapped = typeof body === 'object' && body !== null && !Array.isArray(body) && 'value' in body
  return isWrapped && Object.keys(body).length === 1 ? body.value : body
}

/** The value of text from the command line: JSON where that fits the setting, else the text itself. Where neither fits, JSON
 * if the text is JSON: its validation error says what the setting takes. */
export function valueOfText(name: string, text: string): unknown {
  const known = getKnownName(name)
  const value = parsed(text)
  if (known.kind === 'free') return value ?? text
  return value !== undefined && (fits(known.name, value) || !fits(known.name, text)) ? value : text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON text of a value that may be stored under the name. */
export function textOf(known: KnownName, value: unknown): string {
  // From the command line: a request with one is refused.
  if (hasLargeNumber(value)) throw invalid('/value', 'has a number that is too large')
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > maxValueKb * 1024)
    throw new Failure('E-TOOLARGE', { message: `The value of a setting has at most ${maxValueKb} KiB.` })
  if (known.kind === 'defined' && !fits(known.name, value))
    throw invalid('/value', `must be: ${describeType(known.definition)}. ${known.definition.sentence}`)
  return text
}

// Bounded by the definitions.
const validators = new Map<SettingName, Validator>()

/** Whether a value may be that of the setting; a stored one may have become wrong by a change of the definition. */
export function fits(name: SettingName, value: unknown): boolean {
  let validator = validators.get(name)
  if (!validator) {
    validator = Compile(settingDefinitions[name].type)
    validators.set(name, validator)
  }
  return validator.Check(value)
}
