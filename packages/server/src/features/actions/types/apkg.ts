import { type FileId, parseFileId } from '@kith/protocol'
import { hasRole } from '#infra/caller/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { DescribedPackage } from '../file-ports.ts'
import type { TypeHooks } from './type-hooks.ts'

// What the caller says of these is not believed.
const ofManifest: ReadonlySet<string> = new Set<keyof DescribedPackage>([
  'titles',
  'descriptions',
  'fileTypes',
  'capabilities',
])

/** Offers of app packages. What a package is worth is checked where it is offered and again where it is installed. */
export const apkg: TypeHooks = {
  type: 'APKG',
  check({ attachments }) {
    if (attachments.length !== 1) throw invalid('/attachments', 'must be the one package')
  },
  async prepare({ ports, reader, tenant, caller, body }) {
    if (caller && !hasRole(caller, 'leader')) throw new Failure('E-AUTH-FORBIDDEN')
    const content = body.content as { readonly name: string; readonly version: string }
    const { name, version } = content
    const fileId = fileIdOf(body.attachments[0])
    const described = await ports.appPackages.describe(reader, { tenant, caller, fileId, name, version })
    const given = Object.entries(content).filter(([member]) => !ofManifest.has(member))
    return { content: { ...Object.fromEntries(given), ...described } }
  },
  isFetchedLater: true,
}

function fileIdOf(attachment: string | undefined): FileId {
  const fileId = parseFileId(attachment ?? '')
  if (!fileId) throw new Failure('E-FILE-NOTFOUND')
  return fileId
}
