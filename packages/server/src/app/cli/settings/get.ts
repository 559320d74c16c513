import { getSetting } from '#features/settings/index.ts'
import { argument, type Command } from '../command.ts'
import { withProgram } from '../open-program.ts'
import { findPlaceToRead, placeView, tenantOption, valueText } from './setting-place.ts'

export const settingsGet: Command = {
  name: 'settings get',
  summary: 'Show what a setting is for all tenants, or for one.',
  description:
    'The value that holds: of the tenant, else of all, else the default. Secrets can be set, but not read.',
  positionals: ['NAME'],
  options: tenantOption,
  async run(input) {
    const name = argument(input, 'NAME')
    return withProgram(input, async (program) => {
      const place = await findPlaceToRead(program, input)
      const deps = { db: program.services.db, settings: program.identity.settings }
      const [, value] = await getSetting(deps, { ...place, name })
      return { text: valueText(value), data: { ...placeView(place), name, value } }
    })
  },
}
