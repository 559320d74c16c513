import {
  continueUpload as continueContract,
  createUpload as createContract,
  endUpload as endContract,
  getUpload as getContract,
  tusVersion,
  unofferedTusHeaders,
} from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { bind, type Endpoint, Reshaped } from '#infra/http/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type ContinueDeps, continueUpload } from './continue-upload.ts'
import { createUpload } from './create-upload.ts'
import { endUpload } from './end-upload.ts'
import { getUpload, returnToUpload } from './get-upload.ts'
import type { ResumableUpload } from './upload.ts'
import { uploadHeaders, uploadView } from './upload-view.ts'

export function uploadEndpoints(deps: ContinueDeps): Endpoint[] {
  const headersOf = async (tenantId: TenantId, upload: ResumableUpload) =>
    uploadHeaders(upload, (await deps.limitsOf(tenantId)).maxFileBytes)
  return [
    bind(createContract, async ({ tenant, caller, headers }) => {
      assertTus(headers)
      const { 'upload-length': length, 'upload-metadata': metadata = '' } = headers
      const upload = await createUpload(deps, { tenant, caller, length, metadata })
      const location = `/api/uploads/${upload.uploadId}`
      return new Reshaped(uploadView(upload), {
        headers: { ...(await headersOf(tenant.tenantId, upload)), location },
      })
    }),
    bind(getContract, async ({ tenant, caller, headers, params: { uploadId }, isHead }) => {
      assertTus(headers)
      const question = { tenant, caller, uploadId }
      const upload = isHead ? await returnToUpload(deps, question) : await getUpload(deps, question)
      return new Reshaped(uploadView(upload), { headers: await headersOf(tenant.tenantId, upload) })
    }),
    bind(continueContract, async ({ tenant, caller, headers, params: { uploadId }, body, signal }) => {
      assertTus(headers)
      const { stream, declaredLength } = body
      const piece = { offset: headers['upload-offset'], stream, declaredLength, signal }
      const upload = await continueUpload(deps, { tenant, caller, uploadId, ...piece })
      return new Reshaped(undefined, { headers: await headersOf(tenant.tenantId, upload) })
    }),
    bind(endContract, async ({ tenant, caller, headers, params: { uploadId } }) => {
      assertTus(headers)
      await endUpload(deps, { tenant, caller, uploadId })
    }),
  ]
}

type TusHeaders = Partial<Record<'tus-resumable' | (typeof unofferedTusHeaders)[number], string>>

/** What tus wants of every request, and how it wants it refused. */
function assertTus(headers: TusHeaders): void {
  if (headers['tus-resumable'] !== tusVersion)
    throw new Failure('E-PRECONDITION', { message: `This speaks tus ${tusVersion}.` })
  for (const name of unofferedTusHeaders)
    if (headers[name] !== undefined)
      throw invalid(`/headers/${name}`, 'is of an extension that is not offered')
}
