import {
  downloadFile,
  downloadFiles,
  downloadFolder,
  downloadVariant,
  type FileId,
  getFileDescriptor,
  getFileMetadata,
  parseFileId,
  parseVariantId,
  uploadFile as uploadContract,
  type VariantName,
} from '@kith/protocol'
import { type Caller, guest, idTagOf, type Tenant } from '#infra/caller/index.ts'
import { type ByteReply, bind, type Call, type Endpoint, rateKeyOf } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { type FileQuestion, getFile, getFileWithVariants } from './access/read-file.ts'
import { type ArchiveDeps, serveArchive, serveSelection } from './archive/serve-archive.ts'
import { findUserData } from './collections/collection-store.ts'
import { contentsOf, type FileContents } from './contents/file-contents.ts'
import type { HistoryDeps } from './contents/file-history.ts'
import { historyEndpoints } from './contents/history-endpoints.ts'
import { serveContent } from './contents/serve-content.ts'
import { askForAttachment, askForContent } from './copies/queue-fetches.ts'
import type { StoredFile } from './file.ts'
import { type FileChangeDeps, fileChangeEndpoints } from './file-change-endpoints.ts'
import { type FileListDeps, fileListEndpoints, viewsOf } from './file-list-endpoints.ts'
import { createdFileView, descriptorView } from './file-view.ts'
import { parentFolder } from './folders/parent-folder.ts'
import { mayTellMore } from './serving/guest-content.ts'
import { serveFile } from './serving/serve-file.ts'
import { replacedFile } from './upload/place-upload.ts'
import { type UploadDeps, uploadFile } from './upload/upload-file.ts'

export interface FileEndpointDeps extends UploadDeps, FileChangeDeps, FileListDeps, HistoryDeps, ArchiveDeps {
  readonly blobs: UploadDeps['blobs']
  readonly contents: HistoryDeps['contents'] & ArchiveDeps['contents']
  readonly jobs: UploadDeps['jobs'] & FileChangeDeps['jobs']
  /** Told of every reading of a file's content; must not make the reader wait. */
  readonly noteRead: (read: {
    readonly tenant: Tenant
    readonly caller: Caller
    readonly fileId: FileId
  }) => void
}

export function fileEndpoints(deps: FileEndpointDeps): Endpoint[] {
  return [
    ...byteEndpoints(deps),
    ...aboutEndpoints(deps),
    ...fileListEndpoints(deps),
    ...fileChangeEndpoints(deps),
    ...historyEndpoints(deps),
  ]
}

function byteEndpoints(deps: FileEndpointDeps): Endpoint[] {
  return [
    bind(uploadContract, async ({ tenant, caller, params, query, body, signal }) => {
      const parentId = parentFolder(query.parentId)
      const { preset, fileName } = params
      const { createdAt, tags = [], visibility = null } = query
      const { stream, contentType: declaredType, declaredLength, atMostLength } = body
      const arriving = { stream, declaredType, declaredLength, atMostLength, signal }
      const replaces = replacedFile(query.replaces)
      const described = { preset, fileName, tags, parentId, visibility, replaces, createdAt }
      return createdFileView(await uploadFile(deps, { tenant, caller, ...described, ...arriving }))
    }),
    bind(downloadFile, (call) => {
      const { tenant, caller, params, query } = call
      return download(deps, { tenant, caller, fileId: params.fileId }, { ...query, call })
    }),
    bind(downloadVariant, (call) => {
      const { tenant, caller, params, query } = call
      const parsed = parseVariantId(params.variantId)
      if (!parsed) throw new Failure('E-FILE-NOTFOUND')
      const { fileId, variant } = parsed
      return download(deps, { tenant, caller, fileId }, { ...query, variant, call })
    }),
    bind(downloadFolder, async ({ tenant, caller, params: { fileId }, ip, signal }): Promise<ByteReply> => {
      const address = rateKeyOf(ip)
      const { headers, open } = await serveArchive(deps, { tenant, caller, fileId, address, signal })
      return { status: 200, headers, body: open }
    }),
    bind(downloadFiles, async ({ tenant, caller, query, ip, signal }): Promise<ByteReply> => {
      const fileIds = query.ids.map((text) => {
        const fileId = parseFileId(text)
        if (!fileId) throw new Failure('E-FILE-NOTFOUND')
        return fileId
      })
      const address = rateKeyOf(ip)
      const { headers, open } = await serveSelection(deps, { tenant, caller, fileIds, address, signal })
      return { status: 200, headers, body: open }
    }),
  ]
}

function aboutEndpoints(deps: FileEndpointDeps): Endpoint[] {
  return [
    bind(getFileDescriptor, async ({ tenant, caller, params }) => {
      const { file, variants } = await getOrAsk(deps, { tenant, caller, fileId: params.fileId })
      const isHidden = caller.kind === 'guest' && mayTellMore(file, variants)
      return descriptorView(file, variants, { isOriginalShown: !isHidden })
    }),
    bind(getFileMetadata, async ({ tenant, caller, params: { fileId } }) => {
      const { file } = await getFile(deps, { tenant, caller, fileId })
      const idTag = idTagOf(caller)
      const userData = idTag && (await findUserData(deps.db.reader(tenant.tenantId), idTag, fileId))
      const [view] = await viewsOf(deps, tenant.tenantId, [{ file, userData }])
      if (!view) throw new TypeError('a file has one view')
      return view
    }),
  ]
}

/** The bytes of a file that everybody may read, from this server. */
export function downloadPublic(
  deps: FileEndpointDeps,
  question: Omit<FileQuestion, 'caller'>,
  {
    variant,
    conditions,
    isHead,
  }: {
    variant?: VariantName
    conditions: DownloadOptions['call']['headers']
    isHead: boolean
  },
): Promise<ByteReply> {
  // With a bearer nothing is answered by a redirect.
  const call = { bearer: '', headers: conditions, isHead }
  return download(deps, { ...question, caller: guest }, { ...(variant ? { variant } : {}), call })
}

interface DownloadOptions {
  readonly variant?: VariantName
  readonly download?: string
  readonly call: Pick<Call<typeof downloadFile>, 'bearer' | 'headers' | 'isHead'>
}

async function download(
  deps: FileEndpointDeps,
  question: FileQuestion,
  { variant, download: downloading, call }: DownloadOptions,
): Promise<ByteReply> {
  const { tenantId } = question.tenant
  const found = await getOrAsk(deps, question)
  const contents = contentsOf(deps.contents, found.file.fileTp)
  if (contents) return downloadContent(deps, question, { file: found.file, contents, call })
  if (found.file.isCopy && !found.file.content) await askForContent(deps, tenantId, found.file)
  const { headers } = call
  const served = await serveFile(deps, tenantId, {
    ...found,
    variant,
    isGuest: question.caller.kind === 'guest',
    forceDownload: downloading === '1',
    conditions: headers,
    mayRedirect: canFollow(call),
    isHead: call.isHead,
  })
  if (served.kind === 'unchanged') return { status: 304, headers: served.headers }
  // A list of pictures shows their thumbnails: that is not reading them, nor is a question about the headers.
  if (variant !== 'tn' && variant !== 'ic' && !call.isHead) deps.noteRead(question)
  if (served.kind === 'elsewhere') return { status: 307, headers: served.headers }
  return { status: served.partial ? 206 : 200, headers: served.headers, body: served.open }
}

function downloadContent(
  deps: FileEndpointDeps,
  question: FileQuestion,
  { file, contents, call }: { file: StoredFile; contents: FileContents; call: DownloadOptions['call'] },
): ByteReply {
  // Only the server of its owner has the content.
  if (file.isCopy) throw new Failure('E-FILE-NOTFOUND')
  const pieces = contents.present(question.tenant.tenantId, file.fileId)
  const { headers, open } = serveContent(file, { mediaType: contents.mediaType, pieces })
  if (!call.isHead) deps.noteRead(question)
  return { status: 200, headers, body: open }
}

/** The file, which is fetched where it came with something from elsewhere and nobody has looked at it yet. */
async function getOrAsk(
  deps: FileEndpointDeps,
  question: FileQuestion,
): ReturnType<typeof getFileWithVariants> {
  try {
    return await getFileWithVariants(deps, question)
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-FILE-NOTFOUND') await askForAttachment(deps, question)
    throw error
  }
}

/** A signed address takes no HEAD, and another origin no script without leave. Who has a token has come with it to us:
 * another server, or a program. */
function canFollow({ bearer, headers, isHead }: DownloadOptions['call']): boolean {
  return (
    bearer === undefined && !isHead && headers.origin === undefined && headers['sec-fetch-mode'] !== 'cors'
  )
}
