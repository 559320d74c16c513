import { createProxySite as createContract, updateProxySite as updateContract } from '@kith/protocol'
import { changeProxySite, createProxySite, type ProxySite, removeProxySite } from '#features/proxy/index.ts'
import { readBody } from '#infra/http/index.ts'
import {
  argument,
  type Command,
  type CommandInput,
  refusingInvalid,
  textOption,
  UsageError,
} from '../command.ts'
import { type Program, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'
import { getNamedSite, givenOptions, siteDeps, siteOptions, siteView } from './site-options.ts'

export const addSite: Command = {
  name: 'site add',
  summary: 'Pass all requests for a domain on to a backend.',
  description:
    'The backend is a scheme, a host and a port: `http://10.0.0.5:3000`. The domain has to lead to this server in the DNS. A running server follows within two seconds.',
  positionals: ['DOMAIN', 'BACKEND_URL'],
  options: siteOptions,
  async run(input) {
    const [domain, backendUrl] = [argument(input, 'DOMAIN'), argument(input, 'BACKEND_URL')]
    const given = { domain, backendUrl, ...givenOptions(input) }
    return withProgram(input, (program) =>
      refusingInvalid(async () => {
        const { type = 'basic', config = {}, ...body } = readBody(createContract, given)
        const request = { ...(await getOperator(program)), site: { ...body, type, config } }
        const site = await createProxySite(siteDeps(program), request)
        return await outcome(program, site, `${site.domain} is passed on to ${site.backendUrl}.`)
      }),
    )
  },
}

export const setSite: Command = {
  name: 'site set',
  summary: 'Change the backend, the type or the configuration of a proxy site.',
  description: 'What is not named stays. A running server follows within two seconds.',
  positionals: ['DOMAIN'],
  options: {
    backend: { type: 'string', value: 'URL', meaning: 'Scheme, host and port of the backend.' },
    ...siteOptions,
  },
  async run(input) {
    const backendUrl = textOption(input, 'backend')
    const change = { ...(backendUrl === undefined ? {} : { backendUrl }), ...givenOptions(input) }
    if (Object.keys(change).length === 0)
      throw new UsageError('There is nothing to change: --backend, --type or --config')
    return changing(input, change, ({ domain }) => `${domain} is changed.`)
  },
}

export const enableSite: Command = {
  name: 'site enable',
  summary: 'Pass requests for a disabled proxy site on again.',
  positionals: ['DOMAIN'],
  options: {},
  run: (input) =>
    changing(input, { status: 'A' }, (site) => `${site.domain} is passed on to ${site.backendUrl}.`),
}

export const disableSite: Command = {
  name: 'site disable',
  summary: 'Pass nothing on for a proxy site, whose domain stays taken.',
  positionals: ['DOMAIN'],
  options: {},
  run: (input) => changing(input, { status: 'D' }, ({ domain }) => `${domain} is disabled.`),
}

export const removeSite: Command = {
  name: 'site remove',
  summary: 'Remove a proxy site.',
  positionals: ['DOMAIN'],
  options: {},
  async run(input) {
    return withProgram(input, async (program) => {
      const { siteId, domain } = await getNamedSite(program, input)
      await removeProxySite(siteDeps(program), { ...(await getOperator(program)), siteId })
      return { text: `${domain} is no proxy site any more.`, data: { siteId, domain } }
    })
  },
}

function changing(input: CommandInput, given: object, say: (site: ProxySite) => string) {
  return withProgram(input, async (program) => {
    const { siteId } = await getNamedSite(program, input)
    return refusingInvalid(async () => {
      const change = readBody(updateContract, given)
      const request = { ...(await getOperator(program)), siteId, change }
      const site = await changeProxySite(siteDeps(program), request)
      return await outcome(program, site, say(site))
    })
  })
}

async function outcome(program: Program, site: ProxySite, text: string) {
  return { text, data: { site: await siteView(program, site) } }
}
