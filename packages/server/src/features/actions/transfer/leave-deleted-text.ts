import { type TenantRow, textIn } from '#infra/db/index.ts'
import { readActionToken } from '../read-action-token.ts'

const texts = ['content', 'attachments', 'x', 'flags'] as const

/** The row of an action as it leaves this server: of what was deleted without text, also where a token that may still have
 * to be sent says it. What only could not be published is not deleted. */
export function leaveDeletedText(row: TenantRow): TenantRow {
  if (row.status !== 'D' || isRefused(row)) return row
  const blank = Object.fromEntries(texts.map((column) => [column, null]))
  return { ...row, ...blank, ...(saysText(row) ? { token: null, nonce: null } : {}) }
}

function isRefused({ x }: TenantRow): boolean {
  return typeof x === 'string' && 'refused' in (JSON.parse(x) as object)
}

// What servers put there themselves: ids and identities.
const idsOnly: ReadonlySet<string> = new Set(['author', 'offer', 'withdraws'])

function saysText(row: TenantRow): boolean {
  if (row.token === null) return false
  const { content, attachments, x } = readActionToken(textIn(row, 'token')).payload
  const said = Object.keys(x ?? {}).filter((name) => !idsOnly.has(name))
  return content !== undefined || said.length > 0 || (attachments ?? []).length > 0
}
