import { invalid } from '#lib/failure.ts'

const minLength = 8
const maxLength = 1024

/** The bytes that are hashed: the same password typed on another system may come in another Unicode form. */
export function passwordBytes(password: string): Buffer {
  return Buffer.from(password.normalize('NFC'), 'utf8')
}

/** Refuses a new password outside 8–1024 characters; `path` names the member in the failure. */
export function assertAcceptablePassword(password: string, path: string): void {
  // Unpaired surrogates would all be hashed alike.
  if (!password.isWellFormed()) throw invalid(path, 'A password is made of whole characters.')
  const length = [...password.normalize('NFC')].length
  if (length < minLength || length > maxLength)
    throw invalid(path, `A password has ${minLength} to ${maxLength} characters.`)
}
