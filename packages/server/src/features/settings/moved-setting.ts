import { numberIn, optionalTextIn, type TenantRow, textIn } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { getKnownName, type KnownName, textOf } from './setting.ts'

/** A setting of an archive, as it is here. Undefined for what the owner of a tenant could not set: what administrators
 * decide, and what this server does not know. */
export function takeSetting(row: TenantRow): TenantRow | undefined {
  const text = optionalTextIn(row, 'value')
  const known = knownOf(textIn(row, 'name'))
  if (!known || text === undefined || !isOwners(known)) return undefined
  const value = checkedText(known, text)
  if (value === undefined) return undefined
  return {
    name: known.name,
    value,
    value_sealed: null,
    is_free: Number(known.kind === 'free'),
    bytes: Buffer.byteLength(value),
    updated_at: numberIn(row, 'updated_at'),
  }
}

function isOwners(known: KnownName): boolean {
  if (known.kind === 'free') return true
  const { permission, scope, isServerWide, isSecret } = known.definition
  return permission === 'user' && scope !== 'system' && !isServerWide && !isSecret
}

function knownOf(name: string): KnownName | undefined {
  return withoutFailure(() => getKnownName(name))
}

function checkedText(known: KnownName, text: string): string | undefined {
  return withoutFailure(() => textOf(known, JSON.parse(text)))
}

function withoutFailure<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Failure || error instanceof SyntaxError) return undefined
    throw error
  }
}
