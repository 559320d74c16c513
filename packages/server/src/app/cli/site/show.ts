import { listSites, type ProxySite } from '#features/proxy/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Command } from '../command.ts'
import { columns } from '../help.ts'
import { withProgram } from '../open-program.ts'
import { getNamedSite, siteView, siteViews } from './site-options.ts'

export const listSitesCommand: Command = {
  name: 'site list',
  summary: 'Show the sites of other programs to which this server passes requests on.',
  positionals: [],
  options: {},
  async run(input) {
    return withProgram(input, async (program) => {
      const sites = await listSites(program.services.db.reader(serverTenant))
      const views = await siteViews(program, sites)
      const rows = views.map(({ domain, backendUrl, type, status, certExpiresAt }) => [
        domain,
        backendUrl,
        statusText({ status }),
        type,
        certExpiresAt === undefined ? '' : `certificate until ${dayOf(certExpiresAt)}`,
      ])
      const text = rows.length === 0 ? 'No proxy sites.' : columns(rows)
      return { text, data: { sites: views } }
    })
  },
}

export const showSite: Command = {
  name: 'site show',
  summary: 'Show a proxy site with its configuration.',
  positionals: ['DOMAIN'],
  options: {},
  async run(input) {
    return withProgram(input, async (program) => {
      const site = await getNamedSite(program, input)
      const view = await siteView(program, site)
      const rows = [
        ['domain', site.domain],
        ['backend', site.backendUrl],
        ['status', statusText(site)],
        ['type', site.type],
        ['config', JSON.stringify(site.config)],
        ...(view.certExpiresAt === undefined ? [] : [['certificate', `until ${dayOf(view.certExpiresAt)}`]]),
        ['created', view.createdAt],
        ['changed', view.updatedAt],
      ]
      return { text: columns(rows), data: { site: view } }
    })
  },
}

const dayOf = (time: string) => time.slice(0, 10)

function statusText({ status }: Pick<ProxySite, 'status'>): string {
  return status === 'A' ? 'active' : 'disabled'
}
