import { AppManifest, isVisibleName, isVisibleText, readJson, type ValidationIssue } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { issueOf } from '#lib/schema-issues.ts'
import { ambiguousMember } from './member-names.ts'
import { manifestFault } from './package-fault.ts'

const form = Compile(AppManifest)
const encodingProblems = {
  encoding: 'must be UTF-8',
  depth: 'must not be nested so deep',
  nul: 'must not have U+0000',
  surrogate: 'must not have half a character',
  number: 'must not have a number that is too large',
} as const
/** What the patterns of the members mean. */
const patterns: Readonly<Record<string, string>> = {
  id: 'must be small letters, digits and hyphens, in parts with dots between them, like com.example.notes',
  version: 'must be a version like 1.2.3 (SemVer 2.0)',
  name: 'must not have slashes or control characters',
  icon: 'must be the path of a .png, .svg, .webp or .jpg',
  entry: 'must be the path of an .html page',
  titles: 'must have language tags as names, like de or de-AT',
  descriptions: 'must have language tags as names, like de or de-AT',
  fileTypes: 'must be a content type like text/plain or image/*',
}
// `boolean`: a name of a member that fits no pattern.
const patternKeywords = new Set(['pattern', 'boolean'])

/** The manifest in the bytes of `app.json`. Fails with `E-VALIDATION` when they are none. */
export function parseManifest(bytes: Uint8Array): AppManifest {
  const value = parse(bytes)
  if (!form.Check(value)) throw manifestFault('manifest-invalid', issuesOf(value))
  const unseen = invisibleTexts(value)
  if (unseen.length > 0) throw manifestFault('manifest-invalid', unseen)
  return known(value)
}

function parse(bytes: Uint8Array): unknown {
  let fault = ''
  const read = readJson(bytes, (text) => {
    try {
      return parseUnambiguous(text)
    } catch (error) {
      fault = (error as SyntaxError).message
      throw error
    }
  })
  if (!('problem' in read)) return read.value
  const message = read.problem === 'syntax' ? fault : encodingProblems[read.problem]
  throw manifestFault('manifest-not-json', [{ path: '', message }])
}

function parseUnambiguous(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const name = ambiguousMember(text)
  if (name === '__proto__') throw new SyntaxError('must not have a member __proto__')
  if (name !== undefined) throw new SyntaxError(`must not have the member ${JSON.stringify(name)} twice`)
  return value
}

/** One issue for each place. */
function issuesOf(value: unknown): ValidationIssue[] {
  const errors = form.Errors(value)
  const issues = new Map<string, ValidationIssue>()
  for (const error of errors) {
    const { path, message } = issueOf(error, errors)
    const [, member = ''] = path.split('/')
    const pattern = patternKeywords.has(error.keyword) ? patterns[member] : undefined
    if (!issues.has(path)) issues.set(path, { path, message: pattern ?? message })
  }
  return [...issues.values()]
}

interface ShownTexts extends Pick<AppManifest, 'name'> {
  readonly description?: string | undefined
  readonly titles?: AppManifest['titles'] | undefined
  readonly descriptions?: AppManifest['descriptions'] | undefined
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
