import type { FileId, IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'
import type { StageableBytes } from '../blobs/hold-blob.ts'
import { Contradiction, fetchDescriptor, fetchOriginal, findSource, type RemoteDeps } from './remote-file.ts'

const retryAfterSecs = 60

/** The bytes of a file on the server of its owner, for a tenant that may read it. Getting them fails with `E-UNAVAILABLE`
 * where that server cannot be reached or does not give the file, and with `E-VALIDATION` where it gives another one. */
export async function findRemoteBytes(
  deps: RemoteDeps,
  {
    ownerTag,
    signal,
    ...wanted
  }: {
    readonly tenantId: TenantId
    readonly fileId: FileId
    readonly ownerTag: IdTag
    readonly signal: AbortSignal
  },
): Promise<StageableBytes> {
  const source = await explained(findSource(deps, { ...wanted, sourceTag: ownerTag }, signal))
  const descriptor = await explained(fetchDescriptor(deps, source, wanted.fileId))
  return {
    size: descriptor.size,
    stage: () => explained(fetchOriginal(deps, wanted.tenantId, source, descriptor)),
  }
}

/** A job is told by its verdict whether to try again; who asks for the file is told why there is none. */
async function explained<Result>(attempt: Promise<Result>): Promise<Result> {
  try {
    return await attempt
  } catch (error) {
    if (!(error instanceof JobVerdict)) throw error
    if (error instanceof Contradiction)
      throw new Failure('E-VALIDATION', { message: error.message, cause: error })
    throw new Failure('E-UNAVAILABLE', { retryAfterSecs, cause: error })
  }
}
