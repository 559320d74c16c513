import { resolve } from 'node:path'
import { type Command, hasFlag } from '../command.ts'
import { makePackage } from './make-package.ts'
import { offerLines, offerOptions, offerPackages, readOffering } from './offer-packages.ts'

export const publishApp: Command = {
  name: 'app publish',
  summary: 'Pack an app and offer it on a server.',
  description:
    'FOLDER is packed as `app pack` does, uploaded, and offered by an action of the identity whose token is used. An API key that may write (Settings, API keys), or an access token, is read from `KITH_TOKEN`, or asked for. A version that is offered already is not offered again; with other content it is refused. What is in an installed package is public.',
  positionals: ['[FOLDER]'],
  options: {
    ...offerOptions,
    install: { type: 'boolean', meaning: 'Install it there as well.' },
  },
  async run(input) {
    const offering = readOffering(input)
    const made = await makePackage(resolve(input.arguments.FOLDER ?? '.'))
    const isInstalled = hasFlag(input, 'install')
    const offers = await offerPackages(input, [made], { ...offering, isInstalled })
    return { text: offers.flatMap(offerLines), data: offers[0] ?? {} }
  },
}
