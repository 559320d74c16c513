import { type ActionTokenPayload, findActionType } from '@kith/protocol'
import { jsonIn, type TenantRow, textIn } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { readActionToken } from '../read-action-token.ts'

const texts = ['content', 'attachments', 'x', 'flags'] as const

/** The row of an action as it leaves this server: of what was deleted without text, also where a token that may still have
 * to be sent says it. What only could not be published is not deleted. */
export function leaveDeletedText(row: TenantRow): TenantRow {
  if (row.status !== 'D' || isRefused(row)) return row
  const blank = Object.fromEntries(texts.map((column) => [column, null]))
  return { ...row, ...blank, ...(saysText(row) ? { token: null, nonce: null } : {}) }
}

function isRefused(row: TenantRow): boolean {
  const x = jsonIn(row, 'x')
  return typeof x === 'object' && x !== null && 'refused' in x
}

// What servers put there themselves: ids and identities.
const idsOnly: ReadonlySet<string> = new Set(['author', 'offer', 'withdraws'])

function saysText(row: TenantRow): boolean {
  if (row.token === null) return false
  const payload = payloadOf(textIn(row, 'token'))
  if (!payload) return true
  const { type, subject, content, attachments, x } = payload
  if (subject !== undefined && findActionType(type)?.subject === 'words') return true
  const said = Object.keys(x ?? {}).filter((name) => !idsOnly.has(name))
  return content !== undefined || said.length > 0 || (attachments ?? []).length > 0
}

function payloadOf(token: string): ActionTokenPayload | undefined {
  try {
    return readActionToken(token).payload
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}
