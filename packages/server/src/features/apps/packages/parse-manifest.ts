import { AppManifest, readJson, type ValidationIssue } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { isVisibleName, isVisibleText } from '#lib/visible-name.ts'
import { hasAmbiguousMembers } from './member-names.ts'
import { manifestFault, packageFault } from './package-fault.ts'

const form = Compile(AppManifest)

/** The manifest in the bytes of `app.json`. Fails with `E-VALIDATION` when they are none. */
export function parseManifest(bytes: Uint8Array): AppManifest {
  const read = readJson(bytes, parse)
  if ('problem' in read) throw packageFault('manifest-not-json')
  const { value } = read
  if (!form.Check(value))
    throw manifestFault(form.Errors(value).map(({ instancePath: path, message }) => ({ path, message })))
  const unseen = invisibleTexts(value)
  if (unseen.length > 0) throw manifestFault(unseen)
  return known(value)
}

interface ShownTexts extends Pick<AppManifest, 'name'> {
  readonly description?: string | undefined
  readonly titles?: AppManifest['titles'] | undefined
  readonly descriptions?: AppManifest['descriptions'] | undefined
}

function parse(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (hasAmbiguousMembers(text)) throw new SyntaxError('members are not told apart by their names')
  return value
}

/** Which of these texts people could not read, or would read as something else. */
export function invisibleTexts({
  name,
  description = '',
  titles = {},
  descriptions = {},
}: ShownTexts): ValidationIssue[] {
  const names = Object.entries({ '/name': name, ...below('/titles', titles) })
  const texts = Object.entries({
    ...(description !== '' && { '/description': description }),
    ...below('/descriptions', descriptions),
  })
  return [
    ...names.filter(([, text]) => !isVisibleName(text)),
    ...texts.filter(([, text]) => !isVisibleText(text)),
  ].map(([path]) => ({ path, message: 'must be visible text' }))
}

function below(path: string, texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([language, text]) => [`${path}/${language}`, text]))
}

/** The manifest without unknown members, whose size the schema does not limit. */
function known(manifest: AppManifest): AppManifest {
  const members = Object.entries(manifest).filter(([name]) => Object.hasOwn(AppManifest.properties, name))
  return Object.fromEntries(members) as AppManifest
}
