import { endSignIns } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { findRelation } from '#features/relations/index.ts'
import { type HostedTenant, suspendTenant } from '#features/tenants/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { type Command, idTagArgument } from '../command.ts'
import { getHosted, type Program, withProgram } from '../open-program.ts'
import { tenantView } from './tenant-view.ts'

export const suspend: Command = {
  name: 'tenant suspend',
  summary: 'Suspend a tenant: end its sessions and let nobody sign in.',
  description:
    'Its tokens are refused, other servers no longer find it, and nothing is accepted from it until it is resumed; a ban with an end no longer ends by itself. A running server notices within five seconds. Nothing is removed. If the tenant is the only leader of a community, appoint another leader first: `kith tenant leader`.',
  positionals: ['IDTAG'],
  options: {},
  async run(input) {
    const idTag = idTagArgument(input)
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const tenant = await getHosted(program, idTag)
      if (tenant.isBase)
        throw new Failure('E-STATE', { message: 'The base tenant administers the server and stays.' })
      if (await isUnsettled(program, tenant)) {
        const { clock } = services
        const end = (tx: Writer) => endSignIns({ ...identity, clock }, tx)
        await services.db.transact(tenant.tenantId, async (tx) => {
          await suspendTenant({ ...identity, clock, revokeSessions: end }, tx)
          await audit(services, tx, { event: 'tenant.suspended', details: { by: 'command line' } })
        })
      }
      return { text: `${idTag} is suspended.`, data: { tenant: tenantView(await getHosted(program, idTag)) } }
    })
  },
}

/** Is the tenant active, or would it become active again by itself? */
async function isUnsettled({ services }: Program, { idTag, suspendedAt }: HostedTenant): Promise<boolean> {
  if (suspendedAt === undefined) return true
  const relation = await findRelation(services.db.reader(serverTenant), idTag)
  return relation?.standingUntil !== undefined
}
