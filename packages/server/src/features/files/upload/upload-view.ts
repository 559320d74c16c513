import { toIso, type UploadView } from '@kith/protocol'
import type { ResumableUpload } from './upload.ts'

export function uploadView(upload: ResumableUpload): UploadView {
  const { uploadId, offset, length, expiresAt, fileId } = upload
  const view = { uploadId, offset, length, expiresAt: toIso(expiresAt) }
  return fileId === undefined ? view : { ...view, fileId }
}

/** The same, as tus clients read it. `maxBytes`: of an upload of the tenant. */
export function uploadHeaders(upload: ResumableUpload, maxBytes: number): Record<string, string> {
  return {
    'upload-offset': String(upload.offset),
    'upload-length': String(upload.length),
    ...(upload.metadata === '' ? {} : { 'upload-metadata': upload.metadata }),
    'tus-max-size': String(maxBytes),
    'upload-expires': new Date(upload.expiresAt * 1000).toUTCString(),
    'cache-control': 'no-store',
    ...(upload.fileId === undefined ? {} : { 'x-file-id': upload.fileId }),
  }
}
