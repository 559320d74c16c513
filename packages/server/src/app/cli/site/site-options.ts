import { ProxySiteConfig, type ProxySiteView } from '@kith/protocol'
import { noteNameChange, openSiteCertificates } from '#features/certificates/index.ts'
import { getSiteOf, type ProxySite, type ProxySiteDeps, proxySiteViews } from '#features/proxy/index.ts'
import { getsCertificates } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { nearestName } from '#lib/nearest-name.ts'
import { ownPlacesOf } from '../../proxy-features.ts'
import { argument, type CommandInput, choiceOption, readIdTag, textOption, UsageError } from '../command.ts'
import type { Program } from '../open-program.ts'

export const siteOptions = {
  type: {
    type: 'string',
    value: 'basic|advanced',
    meaning: '`basic` when absent. Headers, `stripPrefix` and `healthPath` are for `advanced` sites.',
  },
  config: {
    type: 'string',
    value: 'JSON',
    meaning:
      'How requests are passed on, as in `docs/operations/proxy-sites.md`; in place of the former one.',
  },
} as const

/** Type and configuration as they were given; the contract of the API checks them. */
export function givenOptions(input: CommandInput) {
  const type = choiceOption(input, 'type', ['basic', 'advanced'])
  const text = textOption(input, 'config')
  return {
    ...(type === undefined ? {} : { type }),
    ...(text === undefined ? {} : { config: parsed(text) }),
  }
}

function parsed(text: string): unknown {
  const config = parseJson(text)
  if (typeof config !== 'object' || config === null) return config
  // The API drops members that it does not know; a mistyped one would be lost here, and the former ones with it.
  const known = Object.keys(ProxySiteConfig.properties)
  const unknown = Object.keys(config).find((name) => !known.includes(name))
  if (unknown === undefined) return config
  const near = nearestName(unknown, known)
  throw new UsageError(`--config has no ${unknown}${near === undefined ? '' : `. Did you mean ${near}?`}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`--config is not JSON: ${text}`)
  }
}

/** The site that the positional DOMAIN names. */
export function getNamedSite({ services }: Program, input: CommandInput): Promise<ProxySite> {
  return getSiteOf(services.db.reader(serverTenant), readIdTag(argument(input, 'DOMAIN')))
}

/** Sites as commands print them in JSON. */
export function siteViews({ services }: Program, sites: readonly ProxySite[]): Promise<ProxySiteView[]> {
  const certificates = openSiteCertificates({ ...services, isOn: getsCertificates(services.config) })
  return proxySiteViews(sites, certificates)
}

export async function siteView(program: Program, site: ProxySite): Promise<ProxySiteView> {
  const [view] = await siteViews(program, [site])
  return view as ProxySiteView
}

/** What the use cases need. The processes of the server read their lists anew by themselves. */
export function siteDeps({ services, identity, addresses }: Program): ProxySiteDeps {
  const { db, clock, jobs, config } = services
  const proxySites = { noteChange: async () => undefined }
  return {
    db,
    clock,
    proxySites,
    ownPlaces: ownPlacesOf(services, identity, addresses),
    noteDomains: (tx) => noteNameChange({ jobs, isOn: getsCertificates(config) }, tx),
  }
}
