import { Compile, type Validator } from 'typebox/compile'
import { Failure, invalid } from '#lib/failure.ts'
import { definitions, findDefinition, type SettingName } from './definitions.ts'
import { describeType, type SettingDefinition } from './setting-definition.ts'

const freeForm = /^(?:ui|app)(?:\.[A-Za-z0-9_-]+)+$/
const longestName = 128
const maxValueKb = definitions['limits.max_setting_kb'].default

/** A known name: a defined setting, or a free one that clients may use as they like. */
export type KnownName =
  | { readonly kind: 'defined'; readonly name: SettingName; readonly definition: SettingDefinition }
  | { readonly kind: 'free'; readonly name: string }

/** `E-NOTFOUND` for a name that is neither defined nor free. */
export function getKnownName(name: string): KnownName {
  const definition = findDefinition(name)
  if (definition) return { kind: 'defined', name: name as SettingName, definition }
  if (name.length <= longestName && freeForm.test(name)) return { kind: 'free', name }
  throw new Failure('E-NOTFOUND', { message: 'There is no such setting.' })
}

/** The value of a PUT body: `{value}`, or the value itself. */
export function valueOfBody(body: unknown): unknown {
  const isWrapped = typeof body === 'object' && body !== null && !Array.isArray(body) && 'value' in body
  return isWrapped && Object.keys(body).length === 1 ? body.value : body
}

/** The JSON text of a value that may be stored under the name. */
export function textOf(known: KnownName, value: unknown): string {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > maxValueKb * 1024)
    throw new Failure('E-TOOLARGE', { message: `The value of a setting has at most ${maxValueKb} KiB.` })
  if (known.kind === 'defined' && !fits(known.name, value))
    throw invalid('/value', `must be: ${describeType(known.definition)}`)
  return text
}

// Bounded by the definitions.
const validators = new Map<SettingName, Validator>()

/** Whether a value may be that of the setting; a stored one may have become wrong by a change of the definition. */
export function fits(name: SettingName, value: unknown): boolean {
  let validator = validators.get(name)
  if (!validator) {
    validator = Compile(definitions[name].type)
    validators.set(name, validator)
  }
  return validator.Check(value)
}
