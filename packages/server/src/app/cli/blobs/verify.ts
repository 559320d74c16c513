import type { IdTag } from '@kith/protocol'
import { type BlobProblem, verifyBlobs } from '#features/files/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { type Command, hasFlag, readIdTag, textOption } from '../command.ts'
import { columns, counted } from '../help.ts'
import { eachTenant, getHosted, type Program, withProgram } from '../open-program.ts'

// So many are listed; the rest is only counted.
const maxNamed = 1000

type NamedProblem = BlobProblem & { readonly tenant: IdTag }

export const verifyStoredBlobs: Command = {
  name: 'blobs verify',
  summary: 'Compare the stored bytes of files with what the database knows of them.',
  description:
    'Missing bytes belong to a file and are not there, damaged ones are not what their name says, orphaned ones belong to no file. The server removes orphans in time; missing and damaged bytes must come from a backup, and let the command exit with 1. It can run beside a running server.',
  positionals: [],
  options: {
    deep: {
      type: 'boolean',
      meaning: 'Read and hash every byte; without it only presence and size are looked at.',
    },
    tenant: { type: 'string', value: 'IDTAG', meaning: 'Look at one tenant only.' },
  },
  async run(input) {
    const wanted = textOption(input, 'tenant')
    const idTag = wanted === undefined ? undefined : readIdTag(wanted)
    const report = await withProgram(input, (program) => verify(program, idTag, hasFlag(input, 'deep')))
    const { missing, damaged, orphaned } = report.found
    const rows = report.problems.map(({ tenant, kind, hash, bytes }) => [
      kind,
      tenant,
      hash,
      `${bytes} bytes`,
    ])
    const text = [
      `Looked at ${counted(report.blobs, 'blob')} of ${report.bytes} bytes: ${missing} missing, ${damaged} damaged, ${orphaned} orphaned.`,
      ...columns(rows),
    ]
    return { text: text.join('\n'), data: report, ok: missing + damaged === 0 }
  },
}

async function verify(program: Program, idTag: IdTag | undefined, deep: boolean) {
  const problems: NamedProblem[] = []
  const report = {
    deep,
    blobs: 0,
    bytes: 0,
    found: { missing: 0, damaged: 0, orphaned: 0 },
    /** The first thousand. */
    problems,
  }
  const look = async ({ tenantId, idTag: tenant }: HostedTenant) => {
    const walk = verifyBlobs(program.services, tenantId, { deep })
    for (let step = await walk.next(); ; step = await walk.next()) {
      if (step.done) {
        report.blobs += step.value.blobs
        report.bytes += step.value.bytes
        return
      }
      report.found[step.value.kind] += 1
      if (problems.length < maxNamed) problems.push({ tenant, ...step.value })
    }
  }
  if (idTag) await look(await getHosted(program, idTag))
  else for await (const tenant of eachTenant(program.identity.tenants)) await look(tenant)
  return report
}
