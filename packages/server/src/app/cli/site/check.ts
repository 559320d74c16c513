import { checkSite, listSites } from '#features/proxy/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { askBackend } from '#infra/proxy/index.ts'
import type { Command, CommandInput } from '../command.ts'
import { columns } from '../help.ts'
import { type Program, withProgram } from '../open-program.ts'
import { getNamedSite } from './site-options.ts'

// Each may take as long as its site gives a backend.
const atOnce = 20

export const checkSiteCommand: Command = {
  name: 'site check',
  summary: 'Ask the backends of proxy sites how they are; exits with 1 when one is down.',
  description:
    'It asks from this machine, as the server does: at `healthPath`, where a status below 400 is up, else at `/`, where any answer below 500 is. Without DOMAIN every active site is asked.',
  positionals: ['[DOMAIN]'],
  options: {},
  async run(input) {
    return withProgram(input, async (program) => {
      const sites = await listWanted(program, input)
      const ask = askBackend.bind(undefined, program.services.clock)
      const checks = []
      for (let from = 0; from < sites.length; from += atOnce) {
        const some = sites.slice(from, from + atOnce)
        checks.push(
          ...(await Promise.all(
            some.map(async (site) => ({ domain: site.domain, ...(await checkSite({ ask }, site)) })),
          )),
        )
      }
      const rows = checks.map(({ domain, health, path, status, reason }) => [
        domain,
        health,
        status === undefined ? (reason ?? '') : `${status} at ${path}`,
      ])
      const text = rows.length === 0 ? 'No active proxy sites.' : columns(rows)
      return { text, data: { checks }, ok: checks.every(({ health }) => health === 'up') }
    })
  },
}

async function listWanted(program: Program, input: CommandInput) {
  if (input.arguments.DOMAIN !== undefined) return [await getNamedSite(program, input)]
  const all = await listSites(program.services.db.reader(serverTenant))
  return all.filter(({ status }) => status === 'A')
}
