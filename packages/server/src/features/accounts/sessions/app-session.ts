import { type IdTag, parseIdTag } from '@kith/protocol'
import type { SignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { assertSessionLives } from './personal-caller.ts'
import type { Session } from './session.ts'
import { findAppSession } from './session-store.ts'
import { type Device, type RevokeDeps, revokeSessions, startSession } from './start-session.ts'

/** An app as its publisher and its name tell it apart. */
export interface AppName {
  readonly publisherTag: IdTag
  readonly name: string
}

export interface AppSessionDeps {
  readonly db: Database
  readonly clock: Clock
  /** Has the tenant of the reader installed this app? */
  isAppInstalled(reader: Reader, app: AppName): Promise<boolean>
}

/** Reads `@{publisher}/{name}`. */
export function parseAppName(text: string): AppName {
  const [, publisher = '', name = ''] = /^@([^/]+)\/(.+)$/.exec(text) ?? []
  const publisherTag = parseIdTag(publisher)
  if (publisherTag === undefined) throw invalid('/query/app', 'This names no app.')
  return { publisherTag, name }
}

interface AppStart {
  readonly app: AppName
  readonly within: Session
  readonly device: Device
  readonly epoch: SignInEpoch
  readonly expiresAt: number
}

/** The session of an app within a session of the tenant's owner: it ends with that one, and when the app is uninstalled.
 * `E-NOTFOUND` when the app is not installed. */
export async function appSession(
  deps: AppSessionDeps,
  tenant: Tenant,
  { app, within, ...started }: AppStart,
): Promise<Session> {
  const label = labelOf(app)
  if (within.method === 'app') {
    if (within.label !== label) throw new Failure('E-AUTH-FORBIDDEN')
    return within
  }
  const { idTag: callerTag, tenantId } = tenant
  const wanted = { callerTag, homeSid: within.sid, label }
  const find = (reader: Reader) => findAppSession(reader, { ...wanted, now: nowSecs(deps.clock) })
  const known = await find(deps.db.reader(tenantId))
  if (known) return known
  const made = await deps.db.transact(tenantId, async (tx) => {
    if (!(await deps.isAppInstalled(tx, app))) throw new Failure('E-NOTFOUND')
    await assertSessionLives(deps, tx, { sessionId: within.sid })
    return (await find(tx)) ?? startSession(deps, tx, { ...wanted, ...started, method: 'app' })
  })
  if (!made) throw new TypeError('a session id was drawn twice')
  return made
}

/** Ends the sessions of an app, with all tokens and sockets in them. */
export async function endAppSessions(
  deps: RevokeDeps,
  tx: Writer,
  { idTag, ...app }: AppName & Pick<Tenant, 'idTag'>,
): Promise<void> {
  await revokeSessions(deps, tx, { callerTag: idTag, methods: ['app'], label: labelOf(app) })
}

function labelOf({ publisherTag, name }: AppName): string {
  return `@${publisherTag}/${name}`
}
