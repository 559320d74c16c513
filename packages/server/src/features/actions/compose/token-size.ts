import { maxActionTokenLength } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import { tokenPayload } from '../action-token.ts'
import type { Draft } from './sign-action.ts'

// Header, signature, dots, and times that a draft does not have yet.
const framingLength = 400
const members = ['content', 'x', 'audience', 'attachments'] as const

/** Fails with `E-TOOLARGE`, naming the largest member, where an action would have a token that no inbox takes. Lengths of
 * texts are counted in code points, tokens in bytes: a text of the longest length may be too large in some scripts. */
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
