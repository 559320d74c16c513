import type { IdTag } from '@kith/protocol'
import { type BlobProblem, type ContentProblem, verifyBlobs, verifyContents } from '#features/files/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { openRealtimeFeatures } from '../../realtime-features.ts'
import { type Command, hasFlag, readIdTag, textOption } from '../command.ts'
import { columns, counted } from '../help.ts'
import { eachTenant, getListed, type Program, withProgram } from '../open-program.ts'

// So many are listed; the rest is only counted.
const maxNamed = 1000

type NamedProblem = (BlobProblem | ContentProblem) & { readonly tenant: IdTag }

export const verifyStoredBlobs: Command = {
  name: 'blobs verify',
  summary: 'Compare the stored bytes of files with what the database knows of them.',
  description:
    'Missing bytes belong to a file and are not there, damaged ones are not what their name says, orphaned ones belong to no file. The server removes orphans in time; missing and damaged bytes must come from a backup, and let the command exit with 1. With --deep the contents of documents and databases and their histories are read as well: what is unreadable is named, and lets it exit with 1. It can run beside a running server.',
  positionals: [],
  options: {
    deep: {
      type: 'boolean',
      meaning:
        'Read and hash every byte, and read documents and databases; without it only presence and size of blobs are looked at.',
    },
    tenant: { type: 'string', value: 'IDTAG', meaning: 'Look at one tenant only.' },
  },
  async run(input) {
    const wanted = textOption(input, 'tenant')
    const idTag = wanted === undefined ? undefined : readIdTag(wanted)
    const report = await withProgram(input, (program) => verify(program, idTag, hasFlag(input, 'deep')))
    const { missing, damaged, orphaned, unreadable } = report.found
    const { files, snapshots } = report.contents
    const text = [
      `Looked at ${counted(report.blobs, 'blob')} of ${report.bytes} bytes: ${missing} missing, ${damaged} damaged, ${orphaned} orphaned.`,
      ...(report.deep
        ? [
            `Read the content of ${counted(files, 'file')} and ${counted(snapshots, 'snapshot')}: ${unreadable} unreadable.`,
          ]
        : []),
      ...columns(report.problems.map(rowOf)),
    ]
    return { text, data: report, ok: missing + damaged + unreadable === 0 }
  },
}

function rowOf(problem: NamedProblem): string[] {
  const { kind, tenant } = problem
  if (problem.kind !== 'unreadable') return [kind, tenant, problem.hash, `${problem.bytes} bytes`]
  const { fileId, seq, reason } = problem
  return [kind, tenant, seq === undefined ? fileId : `${fileId} (snapshot ${seq})`, reason]
}

async function verify(program: Program, idTag: IdTag | undefined, deep: boolean) {
  const problems: NamedProblem[] = []
  const report = {
    deep,
    blobs: 0,
    bytes: 0,
    contents: { files: 0, snapshots: 0 },
    found: { missing: 0, damaged: 0, orphaned: 0, unreadable: 0 },
    /** The first thousand. */
    problems,
  }
  const note = (tenant: IdTag, problem: BlobProblem | ContentProblem) => {
    report.found[problem.kind] += 1
    if (problems.length < maxNamed) problems.push({ tenant, ...problem })
  }
  const { services, identity } = program
  await using realtime = deep ? disposable(openRealtimeFeatures(services, identity)) : undefined
  const look = async ({ tenantId, idTag: tenant }: HostedTenant) => {
    const noteProblem = note.bind(undefined, tenant)
    const blobs = await eachOf(verifyBlobs(services, tenantId, { deep }), noteProblem)
    report.blobs += blobs.blobs
    report.bytes += blobs.bytes
    if (!realtime) return
    const deps = { db: services.db, contents: realtime.contents }
    const contents = await eachOf(verifyContents(deps, tenantId), noteProblem)
    report.contents.files += contents.files
    report.contents.snapshots += contents.snapshots
  }
  if (idTag) await look(await getListed(program, idTag))
  else for await (const tenant of eachTenant(identity.tenants)) await look(tenant)
  return report
}

function disposable<Closable extends { close(): Promise<void> }>(
  opened: Closable,
): Closable & AsyncDisposable {
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}

/** Takes everything from a generator; answers what it returns. */
async function eachOf<Item, Result>(
  items: AsyncGenerator<Item, Result>,
  take: (item: Item) => void,
): Promise<Result> {
  for (;;) {
    const step = await items.next()
    if (step.done) return step.value
    take(step.value)
  }
}
