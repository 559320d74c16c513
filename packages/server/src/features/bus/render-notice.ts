import {
  type BusEventData,
  type BusEventName,
  busEvents,
  type Scope,
  type ScopeRequirement,
  scopeAllows,
} from '@kith/protocol'
import { findForNotification, findWithFiles } from '#features/actions/index.ts'
import { countUnread } from '#features/conversations/index.ts'
import { findAccessibleFile, findFileViewer, listAttachedFiles } from '#features/files/index.ts'
import { findStoredProfile } from '#features/profiles/index.ts'
import { actsAsTenant, findViewer } from '#features/relations/index.ts'
import { getSetting, type Settings } from '#features/settings/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { compileSerializer, type Outgoing } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Notice } from './notice.ts'

export interface RenderDeps {
  readonly db: Database
  readonly clock: Clock
  readonly settings: Settings
}

/** A listening identity, on the host of a tenant. */
export interface Account {
  readonly tenant: Tenant
  readonly caller: Identified
}

type NoticeOf<Kind extends Notice['kind']> = Extract<Notice, { readonly kind: Kind }>
type Renderer<Kind extends Notice['kind']> = (
  deps: RenderDeps,
  account: Account,
  notice: NoticeOf<Kind>,
) => Promise<Outgoing<BusEventData<Kind>> | undefined>

const attachments = { listShown: listAttachedFiles }

const renderers: { readonly [Kind in BusEventName]: Renderer<Kind> } = {
  ACTION: (deps, account, { actionId }) => findWithFiles({ ...deps, attachments }, { ...account, actionId }),
  async ACTION_STATUS(deps, account, { actionId, status, to }) {
    return (await isFor(deps, account, to)) ? { actionId, status } : undefined
  },
  async STAT(deps, account, { actionId }) {
    const action = await findForNotification(deps, { ...account, actionId })
    return action && { actionId, stat: action.stat }
  },
  async CONVERSATION(deps, account, { conversationId }) {
    if (!actsAsTenant(account.caller, account.tenant)) return undefined
    return { conversationId, unread: (await countUnread(deps, { ...account, conversationId })) ?? 0 }
  },
  async FILE(deps, account, { fileId, event, to }) {
    const isTenants = actsAsTenant(account.caller, account.tenant)
    if (!isTenants && !(await isFor(deps, account, to))) return undefined
    // A loss of access is told; a change of a file that the account can no longer read is not.
    if (event === 'deleted' || event === 'unshared') return { fileId, status: 'D', event }
    const file = await findReadableFile(deps, account, fileId)
    return file && { fileId, status: file.status, event }
  },
  async PROFILE({ db }, { tenant, caller }, { idTag, changed }) {
    const reader = db.reader(tenant.tenantId)
    const follows =
      idTag === tenant.idTag
        ? (await findViewer(reader, tenant, caller, 'one')).facts.has('follows')
        : actsAsTenant(caller, tenant)
    const profile = follows ? await findStoredProfile(reader, idTag) : undefined
    if (!profile) return undefined
    const members = changed.flatMap((name) => (profile[name] === undefined ? [] : [[name, profile[name]]]))
    return { idTag, ...Object.fromEntries(members) }
  },
  async SETTING(deps, { tenant, caller }, { name, to }) {
    if (!to.includes(caller.idTag)) return undefined
    try {
      return await getSetting(deps, { tenant, caller, name })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      // Deleted; or of the type that is written and never read.
      return error.code === 'E-NOTFOUND' ? [name, null] : undefined
    }
  },
  async SESSION(_deps, { caller }, { event, sid, to }) {
    return to.includes(caller.idTag) ? { event, sid } : undefined
  },
}

/** Is the account among those a notice is for? Callers who act for a tenant count as the tenant; identities that it
 * blocks are never told. */
async function isFor(
  { db }: RenderDeps,
  { tenant, caller }: Account,
  to: readonly string[],
): Promise<boolean> {
  if (to.includes(tenant.idTag) && actsAsTenant(caller, tenant)) return true
  if (!to.includes(caller.idTag)) return false
  return (await findViewer(db.reader(tenant.tenantId), tenant, caller, 'one')).idTag !== undefined
}

async function findReadableFile(
  { db, clock }: RenderDeps,
  { tenant, caller }: Account,
  fileId: NoticeOf<'FILE'>['fileId'],
) {
  const reader = db.reader(tenant.tenantId)
  const now = nowSecs(clock)
  // What the account may do; the scope of its token was checked before.
  const who = await findFileViewer(reader, { tenant, caller: { ...caller, scope: undefined }, now })
  return (await findAccessibleFile(reader, who, { fileId, now }))?.file
}

// What a token must be good for to be told this; `admin` of everything where there is no area.
const requirements: Readonly<Record<BusEventName, ScopeRequirement | 'unscoped'>> = {
  ACTION: 'read:actions',
  ACTION_STATUS: 'read:actions',
  STAT: 'read:actions',
  CONVERSATION: 'read:actions',
  FILE: 'read:files',
  PROFILE: 'read:profile',
  SETTING: 'read:settings',
  SESSION: 'unscoped',
}

/** Does a token with this scope get to know such things? Notices of a newer version
 * of the server are told to no client. */
export function scopeShows(scope: Scope | undefined, kind: BusEventName): boolean {
  if (!Object.hasOwn(requirements, kind)) return false
  const requirement = requirements[kind]
  if (requirement !== 'unscoped') return scopeAllows(scope, requirement)
  return !scope || scope.some((item) => 'area' in item && item.area === '*' && item.level === 'admin')
}

const serializers = new Map<BusEventName, (data: unknown) => string>()

/** The JSON text of what an account is told of a notice; undefined where it is not told. */
export async function renderNotice(
  deps: RenderDeps,
  account: Account,
  notice: Notice,
): Promise<string | undefined> {
  const render = renderers[notice.kind] as Renderer<Notice['kind']>
  const data = await render(deps, account, notice)
  if (data === undefined) return undefined
  let serialize = serializers.get(notice.kind)
  if (!serialize) {
    serialize = compileSerializer(busEvents[notice.kind])
    serializers.set(notice.kind, serialize)
  }
  return serialize(data)
}
