import { maxActionTokenLength } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import { tokenPayload } from '../action-token.ts'
import type { Draft } from './sign-action.ts'

// Header, signature, dots, and the times that a draft does not have yet.
const framingLength = 400
const members = ['content', 'x', 'audience', 'attachments'] as const

/** Fails with `E-TOOLARGE`, naming the largest member, when the action's token would be too long for an inbox. Texts
 * are limited in code points and tokens in bytes, so a text of the maximum length may be too long in some scripts. */
export function assertFitsToken(action: Draft): void {
  const length = Math.ceil((bytesOf(tokenPayload(action)) * 4) / 3) + framingLength
  if (length <= maxActionTokenLength) return
  const [largest = 'content'] = members.toSorted(
    (one, other) => bytesOf(action[other]) - bytesOf(action[one]),
  )
  const message = `makes a token of ${length} characters; ${maxActionTokenLength} is the most`
  throw new Failure('E-TOOLARGE', { details: { issues: [{ path: `/${largest}`, message }] } })
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}
