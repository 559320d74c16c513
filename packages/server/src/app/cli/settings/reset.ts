import { deleteSetting, getSetting } from '#features/settings/index.ts'
import { argument, type Command } from '../command.ts'
import { withProgram } from '../open-program.ts'
import { findPlace, placeText, placeView, tenantOption, valueText } from './setting-place.ts'

export const settingsReset: Command = {
  name: 'settings reset',
  summary: 'Remove the value of a setting: the one below it holds again, of all tenants or the default.',
  description: 'A running server follows within five seconds.',
  positionals: ['NAME'],
  options: tenantOption,
  async run(input) {
    const name = argument(input, 'NAME')
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const place = await findPlace(program, input)
      await deleteSetting({ ...services, ...identity }, { ...place, name })
      const deps = { db: services.db, settings: identity.settings }
      const holding = await getSetting(deps, { ...place, name }).then(
        ([, value]) => ` What holds now: ${valueText(value)}`,
        // A secret, which nobody reads, or a free name without a default.
        () => '',
      )
      return {
        text: `The value of ${name} ${placeText(place)} was removed.${holding}`,
        data: { ...placeView(place), name },
      }
    })
  },
}
