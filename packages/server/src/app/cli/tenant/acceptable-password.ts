import { assertAcceptablePassword } from '#features/accounts/index.ts'
import { Failure } from '#lib/failure.ts'
import { UsageError } from '../command.ts'

/** The password itself, when it has the length that a password needs. */
export function acceptablePassword(password: string): string {
  try {
    assertAcceptablePassword(password, '/password')
    return password
  } catch (error) {
    if (error instanceof Failure) throw new UsageError('A password has 8 to 1024 characters')
    throw error
  }
}
