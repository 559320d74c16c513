import { join } from 'node:path'
import type { Command } from '../command.ts'
import { examplesFolder } from './init.ts'
import { makePackage } from './make-package.ts'
import { offerLines, offerOptions, offerPackages, readOffering } from './offer-packages.ts'

const examples = ['todo', 'poll'] as const

export const installExamples: Command = {
  name: 'app install-examples',
  summary: 'Offer and install the example apps: a to-do list and a poll.',
  description:
    'Both are offered and installed by the identity whose token is used: an API key that may write (Settings, API keys), or an access token, is read from `KITH_TOKEN`, or asked for. What is installed already stays; after an update of Kith, the command installs newer versions where there are some.',
  positionals: [],
  options: offerOptions,
  async run(input) {
    const offering = readOffering(input)
    const packages = await Promise.all(examples.map((name) => makePackage(join(examplesFolder, name))))
    // Another Kith bundles another SDK with the same version of an example.
    const offers = await offerPackages(input, packages, { ...offering, isInstalled: true, mayDiffer: true })
    return { text: offers.flatMap(offerLines), data: { apps: offers } }
  },
}
