import Type, { type Static, type TString } from 'typebox'
import { appCapabilities, appNamePattern, maxAppIdLength } from './app-package.ts'
import { appVersionPattern, maxAppVersionLength } from './app-version.ts'
import { Words } from './schemas.ts'

const idSegment = '[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?'

const languageTag = '^(?=.{2,35}$)[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$'

/* @__NO_SIDE_EFFECTS__ */
function ByLanguage(text: TString, description: string) {
  return Type.Record(Type.String({ pattern: languageTag }), text, {
    maxProperties: 40,
    additionalProperties: false,
    description,
  })
}

export const AppTitles = ByLanguage(
  Type.String({ minLength: 1, maxLength: 100 }),
  'What people see in the place of `name`, by language (BCP 47)',
)

export const AppDescriptions = ByLanguage(
  Type.String({ minLength: 1, maxLength: 1_000 }),
  'The description by language (BCP 47)',
)

const typeName = '[a-z0-9][a-z0-9!#$&^_.+-]*'

export const AppFileTypes = Type.Array(
  Type.String({ pattern: `^${typeName}/(?:${typeName}|\\*)$`, maxLength: 127, examples: ['text/*'] }),
  {
    maxItems: 20,
    uniqueItems: true,
    description: 'Content types of the files that it opens beside its own: `type/subtype`, or `type/*`',
  },
)

export const AppCapabilities = Type.Array(Words(appCapabilities), {
  maxItems: appCapabilities.length,
  uniqueItems: true,
  description: 'What the app may ask its host for',
})

/** The manifest of a package: `app.json` at its root. Members beyond these are ignored. */
export const AppManifest = Type.Object({
  id: Type.String({
    pattern: `^${idSegment}(?:\\.${idSegment})*$`,
    maxLength: maxAppIdLength,
    description: 'The same in all versions',
    examples: ['com.example.notes'],
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: appNamePattern,
    description:
      'The app’s address together with its publisher, and what people see where no title is in their language',
  }),
  version: Type.String({
    maxLength: maxAppVersionLength,
    pattern: appVersionPattern,
    description: 'SemVer 2.0',
    examples: ['1.0.0'],
  }),
  description: Type.Optional(Type.String({ maxLength: 1_000 })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 20 })),
  icon: Type.Optional(
    Type.String({ pattern: '\\.(?:png|svg|webp|jpg)$', description: 'Path of a picture in the package' }),
  ),
  entry: Type.String({ pattern: '\\.html$', description: 'Path of the page that is opened' }),
  capabilities: Type.Optional(AppCapabilities),
  titles: Type.Optional(AppTitles),
  descriptions: Type.Optional(AppDescriptions),
  fileTypes: Type.Optional(AppFileTypes),
})
export type AppManifest = Static<typeof AppManifest>
