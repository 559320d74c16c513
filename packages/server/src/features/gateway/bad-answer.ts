import { EgressError } from '#infra/egress/index.ts'
import { Failure } from '#lib/failure.ts'

/** The other server answered something that the contract does not have. */
export function badAnswer(why: string): Failure {
  return new Failure('E-UNAVAILABLE', {
    status: 502,
    message: 'The other server gave an answer that cannot be used.',
    details: { reason: 'bad-answer' },
    cause: new Error(why),
  })
}

/** There was no answer. Addresses and ports stand in the cause alone, which is only logged. */
export function noAnswer(error: unknown): unknown {
  if (!(error instanceof EgressError)) return error
  if (error.reason === 'redirect' || error.reason === 'too-large') return badAnswer(error.message)
  return new Failure('E-UNAVAILABLE', {
    message: 'The other server cannot be reached now. Try again later.',
    details: { reason: 'no-answer' },
    cause: error,
  })
}
