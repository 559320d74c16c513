import type { LiveFiles } from '#features/files/index.ts'
import { idTagOf } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import type { Connection } from '../live/connection.ts'

/** The same identity goes on with another token. Throws 403 for one that is not good for this database; the socket goes on with
 * the old one then. */
export async function renewProof(
  files: Pick<LiveFiles, 'renew'>,
  { visit, file }: Connection,
  token: string,
): Promise<void> {
  const proof = await visit.authenticate(token).catch((error: unknown) => {
    const isBad = error instanceof Failure && error.code.startsWith('E-AUTH-')
    throw isBad ? new RtdbFailure(403, 'this token is not good here') : error
  })
  if (idTagOf(proof.caller) !== file.idTag) throw new RtdbFailure(403, 'this token is of another identity')
  if (!(await files.renew(visit, proof)))
    throw new RtdbFailure(403, 'this token is not good for this database')
}
