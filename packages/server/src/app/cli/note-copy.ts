import type { CommandInput } from './command.ts'
import { reportOf } from './failure-report.ts'

/** Notes in an audit trail that something was copied. The copy is good whether or not that can be noted: where the disk is
 * full it is wanted most. */
export async function noteCopy(
  { complain }: Pick<CommandInput, 'complain'>,
  note: () => Promise<unknown>,
): Promise<void> {
  try {
    await note()
  } catch (error) {
    complain(`The audit trail does not tell of this: ${reportOf(error).message}`)
  }
}
