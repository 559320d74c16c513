import { resolve } from 'node:path'
import { auditCommand } from '#features/audit/index.ts'
import { findTenantById, type HostedTenant } from '#features/tenants/index.ts'
import { exportTenant } from '#features/transfer/index.ts'
import { Failure } from '#lib/failure.ts'
import { version } from '../../version.ts'
import { type Command, hasFlag, idTagArgument, textOption } from '../command.ts'
import { counted } from '../help.ts'
import { noteCopy } from '../note-copy.ts'
import { getHosted, type Program, withProgram } from '../open-program.ts'

export const exportCommand: Command = {
  name: 'export',
  summary: 'Write everything that belongs to a tenant to a file that another server can import.',
  description:
    'The file is a tar archive with rows, jobs that have not ended and the bytes of files; it suits servers with another kind of database too. Sessions stay behind, API keys and passkeys go along. Without `--with-keys` the tenant gets a new signing key where it is imported, what was signed before stays valid, and its references stay behind. With `--with-keys` the file is enough to act as the tenant. The audit trails of the tenant and of the base tenant tell of it. People download their own account in the app (Settings, Your data): the same archive, without keys and without the password, which `kith tenant password` sets where it is imported.',
  positionals: ['IDTAG'],
  options: {
    to: { type: 'string', value: 'FILE', meaning: '`./IDTAG.tar` when absent.' },
    'with-keys': {
      type: 'boolean',
      meaning: 'Put the private keys and other secrets of the tenant into the file, readable.',
    },
  },
  async run(input) {
    const idTag = idTagArgument(input)
    const withKeys = hasFlag(input, 'with-keys')
    const path = resolve(textOption(input, 'to') ?? `${idTag}.tar`)
    const signal = input.interruption()
    return withProgram(input, async (program) => {
      const tenant = await getHosted(program, idTag)
      const written = await exportTenant({ ...program.services, version }, tenant, {
        path,
        withKeys,
        signal,
      })
      await noteCopy(input, () => auditExport(program, tenant, { withKeys }))
      const rows = Object.values(written.tables).reduce((sum, table) => sum + table.rows, 0)
      const { blobs, jobs, bytes } = written
      const lines = [
        `${path}: ${counted(rows, 'row')}, ${counted(jobs, 'job')} and ${counted(blobs.count, 'blob')} of ${idTag}, ${bytes} bytes.`,
        ...(withKeys ? ['It holds the private keys: this file is enough to act as the tenant.'] : []),
      ]
      return { text: lines, data: { idTag, path, bytes, withKeys, rows, jobs, blobs } }
    })
  },
}

/** In the trail of the tenant, unless it was removed while it was exported, and in that of the base tenant. */
async function auditExport(
  { services }: Program,
  { tenantId, idTag }: HostedTenant,
  details: { readonly withKeys: boolean },
): Promise<void> {
  await services.db.transact(tenantId, async (tx) => {
    const tenant = await findTenantById(tx, tenantId)
    if (!tenant) throw new Failure('E-PROFILE-NOTFOUND', { message: `${idTag} was removed meanwhile.` })
    await auditCommand(services, tx, { event: 'tenant.exported', details })
  })
}
