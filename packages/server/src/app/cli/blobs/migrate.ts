import type { IdTag } from '@kith/protocol'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { openBlobs } from '../../services.ts'
import { type Command, type CommandInput, textOption, UsageError } from '../command.ts'
import { columns } from '../help.ts'
import { eachTenant, type Program, readCommandConfig, withProgram } from '../open-program.ts'

// What is named one by one; the rest is only counted.
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
      `Copied ${copied.count} blobs of ${copied.bytes} bytes to ${place}; ${present} were there already, ${damaged} are damaged.`,
      ...columns(rows),
    ]
    return { text: text.join('\n'), data: { to: place, ...report }, ok: damaged === 0 }
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
  for await (const tenant of eachTenant(identity.tenants)) await copy(services.blobs, to, { tenant, report })
  return report
}

async function copy(
  from: BlobStore,
  to: BlobStore,
  { tenant, report }: { readonly tenant: HostedTenant; readonly report: Report },
): Promise<void> {
  const { tenantId, idTag } = tenant
  for await (const { hash, size } of from.list(tenantId)) {
    if ((await to.size(tenantId, hash)) === size) {
      report.present += 1
      continue
    }
    const bytes = await from.open(tenantId, hash)
    // Removed since it was listed, with the file that it belonged to.
    if (!bytes) continue
    const staged = await to.stage(tenantId, bytes, { maxBytes: size })
    try {
      if (staged.hash === hash) {
        await staged.keep()
        report.copied.count += 1
        report.copied.bytes += size
        continue
      }
      report.damaged += 1
      if (report.problems.length < maxNamed) report.problems.push({ tenant: idTag, hash, bytes: size })
    } finally {
      await staged.discard()
    }
  }
}
