import type { AdminTenant, IdTag } from '@kith/protocol'
import { adminViews } from '#features/admin/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { type Command, type CommandInput, readIdTag } from '../command.ts'
import { columns } from '../help.ts'
import { eachTenant, getListed, type Program, withProgram } from '../open-program.ts'
import { sizeText } from '../work/size-text.ts'
import { tenantView } from './tenant-view.ts'

export const listTenants: Command = {
  name: 'tenant list',
  summary: 'Show the tenants of this server with what they store, or one of them.',
  description:
    'The last day is that of the last sign-in, as far as its session is kept: it goes a day after its end. `importing` and `removing` are suspended tenants that are not whole: an import or a removal is under way, or was interrupted.',
  positionals: ['[IDTAG]'],
  options: {},
  async run(input) {
    const wanted = input.arguments.IDTAG
    const idTag = wanted === undefined ? undefined : readIdTag(wanted)
    const tenants = await listFound(input, idTag)
    return { text: columns(tenants.map(rowOf)), data: { tenants } }
  },
}

type ListedTenant = AdminTenant & Pick<ReturnType<typeof tenantView>, 'ownerTag' | 'appDomain' | 'underWay'>

const underWayWords = { import: 'importing', removal: 'removing' } as const

function rowOf(tenant: ListedTenant) {
  const { idTag, isBase, type, createdAt, usedBytes, underWay, lastSignInAt = '' } = tenant
  const status = underWay ? underWayWords[underWay] : tenant.status
  const days = [createdAt, lastSignInAt].map((time) => time.slice(0, 10))
  return [idTag, isBase ? 'base' : type, status, days[0] ?? '', sizeText(usedBytes), days[1] ?? '']
}

const tenantsAtOnce = 500

async function listFound(input: CommandInput, idTag: IdTag | undefined): Promise<ListedTenant[]> {
  return withProgram(input, async (program) => {
    const found = idTag
      ? [await getListed(program, idTag)]
      : await Array.fromAsync(eachTenant(program.identity.tenants))
    const listed: ListedTenant[] = []
    for (let from = 0; from < found.length; from += tenantsAtOnce)
      listed.push(...(await viewsOf(program, found.slice(from, from + tenantsAtOnce))))
    return listed
  })
}

async function viewsOf({ services: { db } }: Program, tenants: readonly HostedTenant[]) {
  const views = await adminViews(db.reader(serverTenant), tenants)
  return views.map((view, at) => ({ ...tenantView(tenants[at] as HostedTenant), ...view }))
}
