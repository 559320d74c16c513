import type { IdTag } from '@kith/protocol'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { openBlobs } from '../../services.ts'
import { type Command, type CommandInput, textOption, UsageError } from '../command.ts'
import { columns, counted } from '../help.ts'
import { eachTenant, type Program, readCommandConfig, withProgram } from '../open-program.ts'

// So many are listed; the rest is only counted.
const maxNamed = 1000

interface Report {
  copied: { count: number; bytes: number }
  /** Were there already. */
  present: number
  damaged: number
  /** The first thousand of the damaged. */
  problems: { tenant: IdTag; hash: BlobHash; bytes: number }[]
}

export const migrateBlobs: Command = {
  name: 'blobs migrate',
  summary: 'Copy the stored bytes of files to another place.',
  description:
    'It copies from where `BLOB_STORE` says and changes nothing there. Do it once while the server runs; then stop the server, do it again for what was uploaded meanwhile, set `BLOB_STORE` to the new place and start it. What is there already is not copied again. Damaged bytes stay behind and let the command exit with 1.',
  positionals: [],
  options: { to: { type: 'string', value: 'PLACE', meaning: 'The new place, in the form of `BLOB_STORE`.' } },
  async run(input) {
    const place = textOption(input, 'to')
    if (place === undefined) throw new UsageError('--to is missing')
    const target = readTarget(input, place)
    const report = await withProgram(input, (program) => copyAll(program, target))
    const { copied, present, damaged, problems } = report
    const rows = problems.map(({ tenant, hash, bytes }) => ['damaged', tenant, hash, `${bytes} bytes`])
    const text = [
      `Copied ${counted(copied.count, 'blob')} of ${copied.bytes} bytes to ${place}; ${present} were there already, ${damaged} are damaged.`,
      ...columns(rows),
    ]
    return { text, data: { to: place, ...report }, ok: damaged === 0 }
  },
}

/** The same server, with its bytes at the new place. */
function readTarget(input: CommandInput, place: string): Config {
  const here = readCommandConfig(input)
  try {
    const target = readCommandConfig({ env: { ...input.env, BLOB_STORE: place } })
    if (JSON.stringify(target.blobStore) === JSON.stringify(here.blobStore))
      throw new UsageError(`${place} is where the bytes are already`)
    return target
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new UsageError(error.problems.map(({ message }) => `--to ${message}`).join('; '))
  }
}

async function copyAll({ services, identity }: Program, target: Config): Promise<Report> {
  const to = await openBlobs(target, services)
  const report: Report = { copied: { count: 0, bytes: 0 }, present: 0, damaged: 0, problems: [] }
  const way = { from: services.blobs, to, report }
  for await (const tenant of eachTenant(identity.tenants)) await copyTenant(way, tenant)
  return report
}

interface Way {
  readonly from: BlobStore
  readonly to: BlobStore
  readonly report: Report
}

// A bucket answers slowly, and many at once.
const copiesAtOnce = 8

async function copyTenant(way: Way, tenant: HostedTenant): Promise<void> {
  const blobs = way.from.list(tenant.tenantId)[Symbol.asyncIterator]()
  const copyEach = async () => {
    for (let next = await blobs.next(); !next.done; next = await blobs.next())
      await copy(way, tenant, next.value)
  }
  // All come to an end before the first failure is told: none may go on while the stores are closed.
  const ends = await Promise.allSettled(Array.from({ length: copiesAtOnce }, copyEach))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

async function copy(
  { from, to, report }: Way,
  { tenantId, idTag }: HostedTenant,
  { hash, size }: { readonly hash: BlobHash; readonly size: number },
): Promise<void> {
  if ((await to.size(tenantId, hash)) === size) {
    report.present += 1
    return
  }
  const bytes = await from.open(tenantId, hash)
  // Removed since it was listed, with the file that it belonged to.
  if (!bytes) return
  const staged = await to.stage(tenantId, bytes, { maxBytes: size })
  try {
    if (staged.hash === hash) {
      await staged.keep()
      report.copied.count += 1
      report.copied.bytes += size
      return
    }
    report.damaged += 1
    if (report.problems.length < maxNamed) report.problems.push({ tenant: idTag, hash, bytes: size })
  } finally {
    await staged.discard()
  }
}
