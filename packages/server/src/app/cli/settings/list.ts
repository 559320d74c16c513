import { type SettingName, settingDefinitions } from '@kith/protocol'
import { listSettings } from '#features/settings/index.ts'
import type { Command } from '../command.ts'
import { columns } from '../help.ts'
import { withProgram } from '../open-program.ts'
import { findPlaceToRead, placeView, tenantOption, valueText } from './setting-place.ts'

export const settingsList: Command = {
  name: 'settings list',
  summary: 'Show the settings of the server, or of a tenant, and which of them are not the default.',
  description:
    'A tenant has its own value, else that of all tenants, else the default. Secrets are not listed. What each setting does is in `docs/operations/settings.md`.',
  positionals: [],
  options: tenantOption,
  async run(input) {
    return withProgram(input, async (program) => {
      const place = await findPlaceToRead(program, input)
      const { db } = program.services
      const listed = await listSettings({ db, settings: program.identity.settings }, place)
      const settings = listed.map(([name, value]) => ({ name, value, isDefault: isDefault(name, value) }))
      const rows = settings.map((setting) => [
        setting.name,
        setting.isDefault ? '(default)' : '',
        // Last, since it may be long.
        valueText(setting.value),
      ])
      return { text: columns(rows), data: { ...placeView(place), settings } }
    })
  },
}

/** Free names have no default. */
function isDefault(name: string, value: unknown): boolean {
  if (!Object.hasOwn(settingDefinitions, name)) return false
  return JSON.stringify(settingDefinitions[name as SettingName].default) === JSON.stringify(value)
}
