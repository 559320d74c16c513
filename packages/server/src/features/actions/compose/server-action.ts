import { type ActionId, type ActionTokenPayload, serverActionTypes } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { newNonce, ownActionId } from '../action-id.ts'
import type { SendDeps, TokenDeps } from '../action-ports.ts'
import { insertRecord } from '../action-store.ts'
import type { Audience } from '../audience.ts'

/** A token that a server issues in a tenant's name for other servers. No caller makes it, and no list shows it. */
interface ServerAction {
  readonly type: 'STAT' | 'ANNC'
  readonly subType?: 'DEL'
  readonly subject: ActionId
  readonly content?: Readonly<Record<string, unknown>>
}

export type SignedServerAction = ServerAction & {
  readonly actionId: ActionId
  readonly issuedAt: number
  readonly token: string
}

/** Signs it, which takes a millisecond of another thread: never in a transaction. */
export async function signServerAction(
  ports: TokenDeps,
  tenant: Tenant,
  action: ServerAction,
): Promise<SignedServerAction> {
  const { type, subType, subject, content } = action
  const issuedAt = nowSecs(ports.clock)
  const nonce = newNonce()
  const actionId = ownActionId(tenant.idTag, nonce)
  const payload: ActionTokenPayload = {
    actionId,
    type,
    issuerTag: tenant.idTag,
    subject,
    ...(subType === undefined ? {} : { subType }),
    ...(content === undefined ? {} : { content: { ...content } }),
    nonce,
    createdAt: issuedAt,
    iat: issuedAt,
    exp: issuedAt + serverActionTypes[type].lifetimeSecs,
  }
  return { ...action, actionId, issuedAt, token: await ports.keys.sign(tenant.tenantId, payload) }
}

/** Stores it for as long as it has to be sent, and queues it for its audience. */
export async function sendServerAction(
  ports: SendDeps,
  tx: Writer,
  {
    tenant,
    signed,
    audience,
    leftOut,
    toldAt,
  }: {
    readonly tenant: Tenant
    readonly signed: SignedServerAction
    readonly audience: Audience
    readonly leftOut?: readonly Tenant['idTag'][]
    /** For counts: when their receivers were told. */
    readonly toldAt?: number | undefined
  },
): Promise<void> {
  const { actionId, type, subType, subject, issuedAt, token } = signed
  const { idTag: issuerTag } = tenant
  await insertRecord(tx, { actionId, issuerTag, type, subType, subject, issuedAt, toldAt, token })
  await ports.deliver(tx, {
    actionId,
    issuerTag,
    audience,
    ...(leftOut ? { leftOut } : {}),
    isEnding: subType === 'DEL',
    ...(type === 'STAT' ? { countsOf: subject } : {}),
  })
}
