import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { Words } from '../schemas.ts'

const tag = 'Settings'

/** A name and its value; the value of a secret is null. */
export const SettingView = Type.Tuple([Type.String(), Type.Unknown()], {
  description: 'Name and value',
})
export type SettingView = Static<typeof SettingView>

/** Where a value is set: for the tenant of the host alone, or for every tenant without a value of its own. */
export const settingLevels = ['tenant', 'global'] as const
export type SettingLevel = (typeof settingLevels)[number]

const params = Type.Object({
  name: Type.String({ maxLength: 128, description: 'The name of a setting', examples: ['theme'] }),
})
const query = Type.Object({
  scope: Type.Optional(
    Words(settingLevels, {
      description:
        'Where to set it; the scope of the setting’s definition when absent. `global`: SADM; the owner of the base tenant alone where the definition has `isOwnerOnly`',
    }),
  ),
})
const readQuery = Type.Object({
  scope: Type.Optional(
    Words(settingLevels, {
      description:
        '`global`: what holds for all tenants without a value of their own, for administrators on the base tenant’s host; otherwise what holds for this tenant',
    }),
  ),
})
const common = { tag, auth: 'required', role: 'leader', orAdmin: true, scope: 'write:settings' } as const

export const listSettings = contract({
  ...common,
  name: 'listSettings',
  method: 'GET',
  path: '/api/settings',
  summary: 'Every setting that the caller may read, with its effective value',
  scope: 'read:settings',
  query: readQuery,
  reply: { kind: 'data', status: 200, schema: Type.Array(SettingView) },
  errors: [],
})

export const getSetting = contract({
  ...common,
  name: 'getSetting',
  method: 'GET',
  path: '/api/settings/{name}',
  summary: 'One setting: the tenant’s value, else the global one, else the default',
  scope: 'read:settings',
  params,
  query: readQuery,
  reply: { kind: 'data', status: 200, schema: SettingView },
  errors: ['E-NOTFOUND'],
})

export const putSetting = contract({
  ...common,
  name: 'putSetting',
  method: 'PUT',
  path: '/api/settings/{name}',
  summary: 'Set a setting; any name under `ui.` and `app.` may be used',
  description:
    'The body is `{"value": …}` or the value itself: any JSON of at most 16 KiB whose type fits the definition.',
  params,
  query,
  body: { kind: 'json', schema: Type.Unknown() },
  reply: { kind: 'data', status: 200, schema: SettingView },
  errors: ['E-NOTFOUND', 'E-QUOTA'],
  example: { params: { name: 'theme' }, body: { value: 'dark' }, data: ['theme', 'dark'] },
})

export const deleteSetting = contract({
  ...common,
  name: 'deleteSetting',
  method: 'DELETE',
  path: '/api/settings/{name}',
  summary: 'Remove a value, so that the global one or the default is effective again',
  params,
  query,
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: ['E-NOTFOUND'],
})

export const settingContracts = [listSettings, getSetting, putSetting, deleteSetting]
