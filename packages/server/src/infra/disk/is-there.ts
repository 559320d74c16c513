import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '#lib/failure.ts'
import { errorCode, unlessMissing } from '#lib/system-error.ts'

/** Whether a file of the server is there. Throws `E-STATE` when this user may not look into its directory, which is not the same as
 * a server that was never started. */
export async function isThere(path: string): Promise<boolean> {
  try {
    return (await unlessMissing(stat(path))) !== undefined
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    throw new Failure('E-STATE', {
      message: `${dirname(path)} is closed to this user: run kith as the user that runs the server.`,
    })
  }
}
