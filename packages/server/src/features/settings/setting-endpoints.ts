import {
  deleteSetting as deleteContract,
  getSetting as getContract,
  listSettings as listContract,
  putSetting as putContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ChangeSettingsDeps, deleteSetting, putSetting } from './change-settings.ts'
import { getSetting, listSettings } from './read-settings.ts'
import { valueOfBody } from './setting.ts'

export function settingEndpoints(deps: ChangeSettingsDeps): Endpoint[] {
  return [
    bind(listContract, ({ tenant, caller, query }) =>
      listSettings(deps, { tenant, caller, level: query.scope }),
    ),
    bind(getContract, ({ tenant, caller, params, query }) =>
      getSetting(deps, { tenant, caller, level: query.scope, ...params }),
    ),
    bind(putContract, ({ tenant, caller, params, query, body, ip }) =>
      putSetting(deps, { tenant, caller, ip, ...params, level: query.scope, value: valueOfBody(body) }),
    ),
    bind(deleteContract, async ({ tenant, caller, params, query, ip }) => {
      await deleteSetting(deps, { tenant, caller, ip, ...params, level: query.scope })
      return 'ok' as const
    }),
  ]
}
