import {
  downloadFile,
  downloadVariant,
  getFileDescriptor,
  getFileMetadata,
  type HeadersOf,
  type IdTag,
  parseFileId,
  parseVariantId,
  uploadFile as uploadContract,
  type VariantName,
} from '@kith/protocol'
import type { BlobStore } from '#infra/blobs/index.ts'
import type { Reader, TenantId } from '#infra/db/index.ts'
import { type ByteReply, bind, type Endpoint } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { createdFileView, descriptorView, fileView } from './file-view.ts'
import { askForContent } from './queue-fetches.ts'
import { type FileQuestion, getFile, getFileWithVariants, type ReadDeps } from './read-file.ts'
import { serveFile } from './serve-file.ts'
import { type UploadDeps, uploadFile } from './upload-file.ts'

export interface FileEndpointDeps extends UploadDeps, ReadDeps {
  readonly blobs: BlobStore
  /** The name under which an identity is known to a tenant. */
  readonly findName: (reader: Reader, idTag: IdTag) => Promise<string | undefined>
}

export function fileEndpoints(deps: FileEndpointDeps): Endpoint[] {
  return [
    bind(uploadContract, async ({ tenant, caller, params, query, body, signal }) => {
      const parentId = query.parentId === undefined ? undefined : parseFileId(query.parentId)
      if (query.parentId !== undefined && !parentId) throw new Failure('E-FILE-NOTFOUND')
      const file = await uploadFile(deps, {
        tenant,
        caller,
        preset: params.preset,
        fileName: params.fileName,
        stream: body.stream,
        declaredType: body.contentType,
        declaredLength: body.declaredLength,
        atMostLength: body.atMostLength,
        tags: query.tags ?? [],
        parentId,
        visibility: query.visibility ?? null,
        createdAt: query.createdAt,
        signal,
      })
      return createdFileView(file)
    }),
    bind(downloadFile, ({ tenant, caller, params, query, headers }) =>
      download(deps, { tenant, caller, fileId: params.fileId }, { ...query, headers }),
    ),
    bind(downloadVariant, ({ tenant, caller, params, query, headers }) => {
      const parsed = parseVariantId(params.variantId)
      if (!parsed) throw new Failure('E-FILE-NOTFOUND')
      const { fileId, variant } = parsed
      return download(deps, { tenant, caller, fileId }, { ...query, variant, headers })
    }),
    bind(getFileDescriptor, async ({ tenant, caller, params }) => {
      const { file, variants } = await getFileWithVariants(deps, { tenant, caller, fileId: params.fileId })
      return descriptorView(file, variants)
    }),
    bind(getFileMetadata, async ({ tenant, caller, params }) => {
      const { file } = await getFile(deps, { tenant, caller, fileId: params.fileId })
      const name = await deps.findName(deps.db.reader(tenant.tenantId), file.ownerTag)
      return fileView(file, name ?? file.ownerTag)
    }),
  ]
}

interface DownloadOptions {
  readonly variant?: VariantName
  readonly download?: string
  readonly headers: HeadersOf<typeof downloadFile>
}

async function download(
  deps: FileEndpointDeps,
  question: FileQuestion,
  options: DownloadOptions,
): Promise<ByteReply> {
  const { headers } = options
  const tenantId: TenantId = question.tenant.tenantId
  const found = await getFileWithVariants(deps, question)
  if (found.file.isCopy && !found.file.content) await askForContent(deps, tenantId, found.file)
  const served = serveFile(deps, tenantId, {
    ...found,
    variant: options.variant,
    forceDownload: options.download === '1',
    range: headers.range,
    ifNoneMatch: headers['if-none-match'],
    ifRange: headers['if-range'],
  })
  if (served.kind === 'unchanged') return { status: 304, headers: served.headers }
  return { status: served.partial ? 206 : 200, headers: served.headers, body: served.open }
}
