import { type FileId, parseFileId } from '@kith/protocol'
import { hasRole } from '#infra/caller/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Offers of app packages. What a package is worth is checked where it is offered and again where it is installed. */
export const apkg: TypeHooks = {
  type: 'APKG',
  check({ attachments }) {
    if (attachments.length !== 1) throw invalid('/attachments', 'must be the one package')
  },
  async prepare({ ports, reader, tenant, caller, body }) {
    if (caller && !hasRole(caller, 'leader')) throw new Failure('E-AUTH-FORBIDDEN')
    const { name, version } = body.content as { readonly name: string; readonly version: string }
    const fileId = fileIdOf(body.attachments[0])
    const described = await ports.appPackages.describe(reader, { tenant, caller, fileId, name, version })
    return { content: { ...body.content, ...described } }
  },
  isFetchedLater: true,
}

function fileIdOf(attachment: string | undefined): FileId {
  const fileId = parseFileId(attachment ?? '')
  if (!fileId) throw new Failure('E-FILE-NOTFOUND')
  return fileId
}
