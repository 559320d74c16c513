import Type, { type Static } from 'typebox'
import { appCapabilities, appNamePattern } from './app-package.ts'
import { appVersionPattern, maxAppVersionLength } from './app-version.ts'
import { Words } from './schemas.ts'

const idSegment = '[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?'

/** The manifest of a package: `app.json` at its root. Members beyond these are ignored. */
export const AppManifest = Type.Object({
  id: Type.String({
    pattern: `^${idSegment}(?:\\.${idSegment})*$`,
    maxLength: 128,
    description: 'The same in all versions',
    examples: ['com.example.notes'],
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: appNamePattern,
    description: 'What people see, and the app’s address together with its publisher',
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
  capabilities: Type.Optional(Type.Array(Words(appCapabilities), { maxItems: 2, uniqueItems: true })),
})
export type AppManifest = Static<typeof AppManifest>
