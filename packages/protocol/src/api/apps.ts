import Type, { type Static } from 'typebox'
import { AppDescriptions, AppFileTypes, AppTitles } from '../app-manifest.ts'
import { appCapabilities } from '../app-package.ts'
import { contract } from '../contract.ts'
import { ActionIdParam, DomainParam, FileIdParam, filteredPageQuery, IsoTime, Words } from '../schemas.ts'
import { byteConditions } from './files.ts'

const tag = 'Apps'

const Capabilities = Type.Array(Words(appCapabilities), {
  description: 'What the app may ask its host for; a host says what it offers',
})

const offered = {
  name: Type.String(),
  publisherTag: Type.String(),
  version: Type.String({ description: 'SemVer 2.0' }),
  actionId: Type.String({ description: 'The APKG action that offers it' }),
  fileId: Type.String({ description: 'The package' }),
  capabilities: Capabilities,
  description: Type.Optional(Type.String()),
  titles: Type.Optional(AppTitles),
  descriptions: Type.Optional(AppDescriptions),
  fileTypes: Type.Optional(AppFileTypes),
}

/** An app that may be installed. */
export const OfferedApp = Type.Object({
  ...offered,
  tags: Type.Optional(Type.Array(Type.String())),
  createdAt: IsoTime,
})
export type OfferedApp = Static<typeof OfferedApp>

/** An app of a tenant. */
export const InstalledApp = Type.Object({
  appName: Type.String({ description: 'The same as `name`' }),
  ...offered,
  status: Words(['A']),
  autoUpdate: Type.Boolean({ description: 'Newer versions are installed when they are offered' }),
  entry: Type.String({ description: 'Path of the page that is opened, in the package' }),
  icon: Type.Optional(Type.String({ description: 'Path of a picture in the package' })),
  fileType: Type.String({ description: 'The content type of its own files' }),
  withdrawnAt: Type.Optional(
    Type.String({ description: 'When the publisher took the offer back: it stays installed (ISO 8601)' }),
  ),
  installedAt: IsoTime,
  updatedAt: IsoTime,
})
export type InstalledApp = Static<typeof InstalledApp>

export const listApps = contract({
  name: 'listApps',
  method: 'GET',
  path: '/api/apps',
  tag,
  summary: 'The apps that the tenant may install',
  description:
    'What the tenant itself offers, what was offered to it by those whom it follows or is connected with, and versions of what it has installed, as far as the caller may read the APKG actions: of each publisher’s app the newest version, the newest app first.',
  auth: 'optional',
  scope: 'read:apps',
  query: Type.Object({
    ...filteredPageQuery,
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'At most 10 words, or beginnings of words, in name, description and tags',
      }),
    ),
  }),
  reply: { kind: 'list', status: 200, schema: OfferedApp },
  errors: [],
})

export const listInstalledApps = contract({
  name: 'listInstalledApps',
  method: 'GET',
  path: '/api/apps/installed',
  tag,
  summary: 'The apps of this tenant, by name',
  auth: 'required',
  scope: 'read:apps',
  role: 'leader',
  reply: { kind: 'data', status: 200, schema: Type.Array(InstalledApp) },
  errors: [],
})

export const installApp = contract({
  name: 'installApp',
  method: 'POST',
  path: '/api/apps/install',
  tag,
  summary: 'Install an app, or bring it to a newer version',
  description:
    'The package is checked. What is wrong with it is told in `details.reason`, and where it is about one path of it in `details.path`. The version that is installed already is no failure; an older one is. **What is in an installed package is public**: everybody who knows its id may read it.',
  auth: 'required',
  scope: 'write:apps',
  role: 'leader',
  body: {
    kind: 'json',
    schema: Type.Object({
      actionId: ActionIdParam,
      autoUpdate: Type.Optional(Type.Boolean({ description: 'As it is when absent; at first `false`' })),
    }),
  },
  reply: { kind: 'data', status: 201, schema: InstalledApp },
  errors: ['E-ACTION-NOTFOUND', 'E-STATE', 'E-TOOLARGE', 'E-QUOTA', 'E-UNAVAILABLE'],
  example: { body: { actionId: `a1~${'A'.repeat(43)}`, autoUpdate: true } },
})

const AppParams = Type.Object({
  publisher: DomainParam('Who offers the app'),
  name: Type.String({ minLength: 1, maxLength: 100, description: 'The name of the app' }),
})

export const updateInstalledApp = contract({
  name: 'updateInstalledApp',
  method: 'PATCH',
  path: '/api/apps/@{publisher}/{name}',
  tag,
  summary: 'Choose whether an installed app updates by itself',
  auth: 'required',
  scope: 'write:apps',
  role: 'leader',
  params: AppParams,
  body: {
    kind: 'json',
    schema: Type.Object({
      autoUpdate: Type.Boolean({ description: 'Newer versions are installed when they are offered' }),
    }),
  },
  reply: { kind: 'data', status: 200, schema: InstalledApp },
  errors: ['E-NOTFOUND'],
})

export const uninstallApp = contract({
  name: 'uninstallApp',
  method: 'DELETE',
  path: '/api/apps/@{publisher}/{name}',
  tag,
  summary: 'Uninstall an app',
  auth: 'required',
  scope: 'write:apps',
  role: 'leader',
  params: AppParams,
  reply: { kind: 'empty', status: 204 },
  errors: ['E-NOTFOUND'],
})

export const getAppAsset = contract({
  name: 'getAppAsset',
  method: 'GET',
  path: '/api/files/{fileId}/content/{path*}',
  tag,
  summary: 'A file of an installed app',
  description:
    'For everybody who knows the id of a package that the tenant has installed; nothing of what the credential allows goes into the answer. A directory answers its `index.html`. Pages run in a sandbox without an origin, and without a network beyond their own package; browsers get them for frames alone, not for tabs.',
  auth: 'optional',
  guests: true,
  params: Type.Object({
    fileId: FileIdParam,
    path: Type.String({ maxLength: 4_096, description: 'A path in the package' }),
  }),
  headers: Type.Object({
    ...byteConditions,
    'service-worker': Type.Optional(
      Type.String({ description: 'Set by browsers for the script of a service worker, which is refused' }),
    ),
    'sec-fetch-dest': Type.Optional(
      Type.String({ description: 'Set by browsers; `document`, the page of a tab, is refused' }),
    ),
  }),
  reply: { kind: 'bytes', status: 200 },
  answerHeaders: {
    // The page has no origin, so that even its own scripts come from another one.
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  },
  errors: ['E-FILE-NOTFOUND', 'E-PRECONDITION', 'E-RANGE', 'E-UNAVAILABLE'],
})

export const appContracts = [
  listApps,
  listInstalledApps,
  installApp,
  updateInstalledApp,
  uninstallApp,
  getAppAsset,
]
