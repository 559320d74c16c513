import type { ValidationIssue } from '@kith/protocol'
import type { TLocalizedValidationError } from 'typebox/error'

/** An error of a value that does not fit its schema, as callers are told of it. `errors` are all of the value. */
export function issueOf(
  error: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
): ValidationIssue {
  return { path: pathTo(error), message: messageOf(error, errors) }
}

function pathTo({ keyword, params, instancePath }: TLocalizedValidationError): string {
  const member =
    keyword === 'required'
      ? params.requiredProperties[0]
      : keyword === 'additionalProperties'
        ? params.additionalProperties[0]
        : undefined
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function messageOf(first: TLocalizedValidationError, errors: readonly TLocalizedValidationError[]): string {
  if (first.keyword === 'required') return 'is required'
  if (first.keyword === 'additionalProperties') return 'is not known'
  const allowed = first.keyword === 'enum' ? first.params.allowedValues : constantsOf(first, errors)
  if (allowed.length > 0) return `must be ${allowed.map((value) => JSON.stringify(value)).join(' or ')}`
  return first.message.replace('must not have', 'must NOT have')
}

/** The words that a union would take of a value of this type. */
function constantsOf(
  { instancePath }: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
): unknown[] {
  const here = errors.filter((error) => error.instancePath === instancePath)
  const mistyped = new Set(
    here.filter(({ keyword }) => keyword === 'type').map(({ schemaPath }) => schemaPath),
  )
  return here.flatMap((error) =>
    error.keyword === 'const' && !mistyped.has(error.schemaPath) ? [error.params.allowedValue] : [],
  )
}
