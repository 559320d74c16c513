import { type IdTag, maxActionTokenLength } from '@kith/protocol'
import { isSilencedHere } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { newNonce, ownActionId } from '../action-id.ts'
import type { TokenDeps } from '../action-ports.ts'
import { findNewest } from '../action-store.ts'
import { tokenPayload } from '../action-token.ts'
import type { Issuing } from '../types/type-hooks.ts'
import { nextIssueTime } from './issue-time.ts'
import type { PreparedBody } from './prepare-action.ts'

/** An action of the tenant that is not published yet. */
export type Draft = StoredAction & { readonly nonce: string }

// The members of `x` that only the server may set.
const serverMembers = new Set(['author', 'refused', 'ackedAt'])

/** Gives an action its id, its issuer and its author. */
export function draftAction(ports: { readonly clock: Clock }, issuing: Issuing, body: PreparedBody): Draft {
  const { tenant, caller } = issuing
  const authorTag = tenant.type === 'community' ? caller?.idTag : undefined
  const nonce = newNonce()
  return {
    ...body,
    x: extraMembers(body.x, authorTag),
    actionId: ownActionId(tenant.idTag, nonce),
    issuerTag: tenant.idTag,
    authorTag,
    status: 'R',
    isMarked: false,
    createdAt: nowSecs(ports.clock),
    issuedAt: 0,
    publishedAt: undefined,
    publishAt: undefined,
    nonce,
    token: undefined,
  }
}

/** The caller's members of `x`, and the author where the issuer is a community. */
export function extraMembers(x: StoredAction['x'], authorTag: IdTag | undefined): StoredAction['x'] {
  const own = Object.entries(x ?? {}).filter(([name]) => !serverMembers.has(name))
  const members = authorTag === undefined ? own : [...own, ['author', authorTag] as const]
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

/** The published form of a draft, signed, which takes a millisecond of another thread: never in a transaction. An
 * identity that an administrator has blocked for the whole server, or whose domain, cannot publish, but may end what it
 * began. */
export async function signAction(
  ports: TokenDeps,
  reader: Reader,
  { tenant, draft }: { readonly tenant: Tenant; readonly draft: Draft },
): Promise<StoredAction> {
  if (draft.subType !== endingSubType && (await isSilencedHere(reader, tenant.idTag))) throw silenced()
  const now = nowSecs(ports.clock)
  const former = await findNewest(reader, draft)
  const published: Draft = {
    ...draft,
    status: 'A',
    createdAt: now,
    issuedAt: nextIssueTime(draft.type, former, now),
    publishedAt: draft.publishedAt ?? now,
    publishAt: undefined,
  }
  // From here on only the token says it: there is nothing to compare.
  const compared = { targetHash: undefined, rootHash: undefined }
  return { ...published, token: await signToken(ports, tenant, published), ...compared }
}

function silenced(): Failure {
  const message = 'An administrator of this server has blocked this identity, or its domain.'
  return new Failure('E-AUTH-FORBIDDEN', { message })
}

/** The token of an action that is complete but for it. */
export async function signToken(
  ports: { readonly keys: TokenDeps['keys'] },
  tenant: Tenant,
  action: Draft,
): Promise<string> {
  const token = await ports.keys.sign(tenant.tenantId, tokenPayload(action))
  if (token.length > maxActionTokenLength) throw new Failure('E-TOOLARGE')
  return token
}
