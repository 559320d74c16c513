import type { IdTag, Scope } from '@kith/protocol'
import { isOpenFor, type SignInEpoch } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { deleteRevokedBrowserSessions } from '../browser-sessions/browser-session-store.ts'
import type { AccountEvent } from '../events.ts'
import { isPersonal, neverUsed, newSessionId, type Session, type SessionMethod } from './session.ts'
import {
  deleteEndedSessions,
  insertSession,
  markRevoked,
  type RevocationFilter,
  updateSession,
  updateSid,
} from './session-store.ts'

/** The device at the other end. */
export interface Device {
  readonly ip: string
  readonly userAgent?: string | undefined
}

export interface NewSession {
  readonly callerTag?: IdTag
  readonly method: SessionMethod
  readonly scope?: Scope | undefined
  readonly device: Device
  /** In which the sign-in was checked; absent where that and the session are one transaction. */
  readonly epoch?: SignInEpoch | undefined
  /** Undefined = never. */
  readonly expiresAt: number | undefined
  /** Chosen by chance when absent. */
  readonly sid?: string
  readonly homeSid?: string | undefined
  /** Now when absent. */
  readonly signedInAt?: number
  /** For sessions that are used with a secret of their own instead of a token. */
  readonly secretHash?: string
  readonly secretPrefix?: string
  readonly label?: string
}

export interface RevokeDeps {
  readonly clock: Clock
  readonly emit: Emit<AccountEvent>
}

export const keptAfterEndSecs = 24 * 3600
const maxUserAgentLength = 512
const sidsAtOnce = 500

/** Opens a session on the tenant of `tx`. Undefined when there was one with the given `sid` before. Fails when the tenant
 * was suspended, or everything was ended, since the sign-in was checked. */
export async function startSession(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  input: NewSession,
): Promise<Session | undefined> {
  const now = nowSecs(clock)
  const { callerTag, method, scope, device, expiresAt, sid = newSessionId() } = input
  const { secretHash, secretPrefix, label, homeSid } = input
  if (!(await isOpenFor(tx, input.epoch)))
    throw isPersonal(method) ? new Failure('E-AUTH-BADCRED') : unauthenticated('revoked')
  await deleteEndedSessions(tx, now - keptAfterEndSecs)
  const session: Session = {
    sid,
    method,
    createdAt: now,
    signedInAt: input.signedInAt ?? now,
    // A sign-in is a use of its session; a key is made to be used later.
    lastUsedAt: method === 'apikey' ? neverUsed : now,
    ip: device.ip,
    ...(callerTag === undefined ? {} : { callerTag }),
    ...(scope === undefined ? {} : { scope }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(homeSid === undefined ? {} : { homeSid }),
    ...(device.userAgent === undefined ? {} : { userAgent: device.userAgent.slice(0, maxUserAgentLength) }),
  }
  const named = {
    ...(label === undefined ? {} : { label }),
    ...(secretPrefix === undefined ? {} : { secretPrefix }),
  }
  const isNew = await insertSession(
    tx,
    { ...session, ...named },
    secretHash === undefined ? {} : { secretHash },
  )
  return isNew ? { ...session, ...named } : undefined
}

/** Ends one session at once; false when there is no live one. */
export async function revokeSession(
  deps: RevokeDeps,
  tx: Writer,
  filter: RevocationFilter & { sid: string },
) {
  const ended = await markRevoked(tx, nowSecs(deps.clock), filter)
  await deps.emit(tx, { kind: 'credentials.forgotten', sid: filter.sid })
  await announceEnds(deps, tx, ended)
  return ended.length > 0
}

/** Ends all sessions of the tenant of `tx` that the filter names; answers how many. */
export async function revokeSessions(
  deps: RevokeDeps,
  tx: Writer,
  filter: RevocationFilter = {},
): Promise<number> {
  const ended = await markRevoked(tx, nowSecs(deps.clock), filter)
  await deps.emit(tx, { kind: 'credentials.forgotten', sid: undefined })
  await announceEnds(deps, tx, ended)
  return ended.length
}

/** Gives a session another id. It goes on, and all that was given out in it ends: tokens, WebSockets, visits to other tenants. */
export async function renameSession(deps: RevokeDeps, tx: Writer, session: Session): Promise<Session> {
  const { emit } = deps
  const sid = newSessionId()
  await updateSid(tx, session.sid, sid)
  await emit(tx, { kind: 'credentials.forgotten', sid: session.sid })
  await announceEnd({ emit }, tx, session)
  await endApps(deps, tx, [session])
  return { ...session, sid }
}

type EndedSession = Pick<Session, 'sid' | 'callerTag' | 'method'>

async function announceEnds(deps: RevokeDeps, tx: Writer, ended: readonly EndedSession[]): Promise<void> {
  if (ended.some(({ method }) => isPersonal(method))) await deleteRevokedBrowserSessions(tx)
  for (const session of ended) await announceEnd(deps, tx, session)
  await endApps(deps, tx, ended)
}

/** Ends the sessions of apps that were opened in these. Nothing is allowed in them any more: their rows are to go. */
async function endApps({ clock }: RevokeDeps, tx: Writer, ended: readonly EndedSession[]): Promise<void> {
  const homeSids = ended.flatMap(({ sid, method }) => (isPersonal(method) || method === 'apikey' ? sid : []))
  for (let from = 0; from < homeSids.length; from += sidsAtOnce)
    await markRevoked(tx, nowSecs(clock), {
      methods: ['app'],
      homeSids: homeSids.slice(from, from + sidsAtOnce),
    })
}

async function announceEnd(
  { emit }: Pick<RevokeDeps, 'emit'>,
  tx: Writer,
  { sid, callerTag, method }: EndedSession,
): Promise<void> {
  await emit(tx, { kind: 'session.ended', sid })
  if (callerTag !== undefined && isPersonal(method))
    await emit(tx, { kind: 'session.revoked', callerTag, sid })
}

/** Changes what the tokens of a session are worth, those given out before included, what it is called, or when it
 * ends. */
export async function changeSession(
  { emit }: Pick<RevokeDeps, 'emit'>,
  tx: Writer,
  {
    sid,
    ...change
  }: {
    sid: string
    scope?: Scope | null | undefined
    label?: string | undefined
    expiresAt?: number | null | undefined
  },
): Promise<void> {
  await updateSession(tx, sid, change)
  await emit(tx, { kind: 'credentials.forgotten', sid })
  if (change.scope !== undefined) await emit(tx, { kind: 'session.narrowed', sid })
}
