import { type Contract, isForSigningIn } from '@kith/protocol'
import { type DiskReserve, LowDiskFailure } from '#infra/disk/index.ts'
import { Failure } from '#lib/failure.ts'

/** Refuses writes when the disk is nearly full, so that owners can still sign in and delete. */
export async function assertStorable(reserve: DiskReserve, contract: Contract): Promise<void> {
  if (storesLittle(contract) || !(await reserve.isUsedUp())) return
  if (isUpload(contract)) throw new LowDiskFailure()
  const message = 'The server’s disk is full: at present it only deletes.'
  throw new Failure('E-UNAVAILABLE', { message, retryAfterSecs: 60 })
}

/** Deletions, sign-in, and the setting of the reserve itself. */
function storesLittle(contract: Contract): boolean {
  const { method, path } = contract
  if (method === 'GET' || method === 'DELETE' || isForSigningIn(contract)) return true
  return path.startsWith('/api/auth/') || path.startsWith('/api/settings/')
}

function isUpload({ body, path }: Contract): boolean {
  return body?.kind === 'bytes' || path === '/api/uploads'
}
