import { Compile, type Validator } from 'typebox/compile'
import type { JobKind } from './job-kind.ts'

/** A payload says where to find things; large content belongs in a table of its own. */
const maxPayloadChars = 1024 * 1024

// One entry per kind; kinds are constants of the program.
const validators = new WeakMap<JobKind, Validator>()

function validatorOf(kind: JobKind): Validator {
  const known = validators.get(kind)
  if (known) return known
  const validator = Compile(kind.payload)
  validators.set(kind, validator)
  return validator
}

/** The stored form of a payload. Throws a bug, not a `Failure`: the payload was made by this program. */
export function encodePayload(kind: JobKind, payload: unknown): string {
  const problem = findProblem(kind, payload)
  if (problem) throw new TypeError(`Job "${kind.name}": payload${problem}`)
  const text = JSON.stringify(payload)
  if (text.length > maxPayloadChars)
    throw new TypeError(`Job "${kind.name}": payload of ${text.length} characters`)
  return text
}

/** The payload of a stored job, or what is wrong with it: another version of the program may have written it. */
export function decodePayload(
  kind: JobKind,
  text: string,
): { readonly payload: unknown } | { readonly problem: string } {
  let payload: unknown
  try {
    payload = JSON.parse(text)
  } catch {
    return { problem: 'The payload is not JSON' }
  }
  const problem = findProblem(kind, payload)
  return problem ? { problem: `The payload is not valid:${problem}` } : { payload }
}

function findProblem(kind: JobKind, payload: unknown): string | undefined {
  const validator = validatorOf(kind)
  if (validator.Check(payload)) return undefined
  const [first] = validator.Errors(payload)
  return first ? ` ${first.instancePath || '/'} ${first.message}` : ' does not fit'
}
