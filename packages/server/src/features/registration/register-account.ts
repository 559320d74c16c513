import { type IdTag, parseScope, type RegistrationType } from '@kith/protocol'
import {
  type AccountEvent,
  consumeReference,
  type Device,
  type FailedSignInDeps,
  type IssueDeps,
  issueToken,
  mailReference,
  type Reference,
  rolesOf,
  type Session,
  startPersonalSession,
  type TokenLifetimes,
} from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { assertFreeSlot, type HostedTenant } from '#features/tenants/index.ts'
import { serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import { isOfOtherProvider, type NameCheck } from './check-name.ts'
import { type ClaimedName, type ClaimNameDeps, claimName } from './claim-name.ts'
import { getInvitation } from './invitation.ts'
import { type MakePersonDeps, makePerson, welcomeValidSecs } from './make-person.ts'
import { countRegistration } from './registration-buckets.ts'
import { putUnfinished } from './unfinished-store.ts'

export interface RegisterAccountDeps extends MakePersonDeps, IssueDeps, ClaimNameDeps, FailedSignInDeps {
  readonly emit: Emit<AccountEvent>
  readonly names: NameCheck
  /** Who may register (the setting `server.registration`). */
  findPolicy(): Promise<'open' | 'invite'>
  /** How many tenants may live here; 0 is without limit. */
  findMaxTenants(): Promise<number>
  requiresVerifiedEmail(tenantId: TenantId): Promise<boolean>
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
  /** Makes this the language of the tenant of `tx`. */
  chooseLanguage(tx: Writer, lang: string): Promise<void>
}

interface Registration {
  readonly type: RegistrationType
  readonly idTag: IdTag
  readonly appDomain?: IdTag | undefined
  readonly email: string
  /** The refId of an invitation. */
  readonly token?: string | undefined
  readonly lang?: string | undefined
  readonly device: Device
}

interface Registered {
  readonly tnId: TenantId
  readonly idTag: IdTag
  readonly name: string
  readonly token: string
}

/** What was decided before the transaction. */
interface Plan extends Registration {
  readonly base: HostedTenant
  readonly invitation: Reference | undefined
  readonly isNarrow: boolean
  readonly maxTenants: number
  readonly lifetimes: TokenLifetimes
}

interface ClaimedPlan extends Plan {
  readonly claim: ClaimedName | undefined
}

const unusedKeptSecs = welcomeValidSecs + 24 * 3600
// Until the address is verified.
const narrowScope = parseScope('write:profile')

/** Makes an account, for an invitation or where registration is open. Whether the address belongs to another account is
 * not checked, so the answer cannot reveal it. */
export async function registerAccount(deps: RegisterAccountDeps, input: Registration): Promise<Registered> {
  const plan = await planOf(deps, input)
  const claim = await claimIfRemote(deps, plan)
  const made = deps.db.transact(plan.base.tenantId, (tx) => register(deps, tx, { ...plan, claim }))
  const { tenant, session } = await made.catch(async (error) => {
    await claim?.giveBack()
    throw error
  })
  const { token } = await issueToken(deps, tenant, {
    use: 'login',
    sid: session.sid,
    callerTag: tenant.idTag,
    scope: session.scope,
    roles: rolesOf(tenant, { role: 'leader', isOwner: true, isAdmin: false }),
    lifeSecs: plan.lifetimes.loginSecs,
    notAfter: [session.expiresAt],
  })
  return { tnId: tenant.tenantId, idTag: tenant.idTag, name: tenant.idTag, token }
}

async function planOf(deps: RegisterAccountDeps, input: Registration): Promise<Plan> {
  const { type: kind, idTag, appDomain, device } = input
  const email = parseMailAddress(input.email)
  if (email === undefined) throw invalid('/email', 'This is no e-mail address.')
  const base = await deps.tenants.base()
  // Before the name is checked: without an invitation a client learns nothing of names, and causes no DNS queries.
  const invitation = await findInvitation(deps, base, input)
  const place = rateKeyOf(device.ip)
  await deps.names.assert({ idTag, kind, appDomain }, { cause: 'guest', key: place })
  await countRegistration(deps, { place, isInvited: invitation !== undefined })
  return {
    ...input,
    email,
    base,
    invitation,
    isNarrow: await deps.requiresVerifiedEmail(serverTenant),
    maxTenants: await deps.findMaxTenants(),
    lifetimes: await deps.findLifetimes(serverTenant),
  }
}

async function claimIfRemote(
  deps: RegisterAccountDeps,
  { base, type: kind, idTag, email, lang, device }: Plan,
): Promise<ClaimedName | undefined> {
  const isRemote = isOfOtherProvider({ baseIdTag: base.idTag }, { idTag, kind })
  const asker = { cause: 'guest', key: rateKeyOf(device.ip) } as const
  return isRemote ? await claimName(deps, { idTag, email, lang }, asker) : undefined
}

async function findInvitation(
  deps: RegisterAccountDeps,
  base: HostedTenant,
  { token = '', device: { ip } }: Pick<Registration, 'token' | 'device'>,
): Promise<Reference | undefined> {
  if (token !== '') return getInvitation(deps, base, { token, isFor: 'person', ip })
  if ((await deps.findPolicy()) === 'open') return undefined
  throw new Failure('E-AUTH-FORBIDDEN', { message: 'To register here you need an invitation.' })
}

async function register(
  deps: RegisterAccountDeps,
  tx: Writer,
  plan: ClaimedPlan,
): Promise<{ tenant: HostedTenant; session: Session }> {
  const { idTag, appDomain, email, invitation, lang, device, lifetimes } = plan
  // Decided by one conditional update: of many requests for the last use one succeeds.
  if (invitation) await consumeReference(deps, tx, { refId: invitation.refId, types: ['invite'] })
  await assertFreeSlot(tx, plan.maxTenants)
  const tenant = await makePerson(deps, tx, {
    idTag,
    name: idTag,
    email,
    ...(appDomain === undefined ? {} : { appDomain }),
  })
  const own = tx.as(tenant.tenantId)
  // The client is not told where the mailbox has had too many: it would reveal that the address was used before.
  const welcome = { type: 'welcome', validSecs: welcomeValidSecs, lang } as const
  const { isQueued: isMailed } = await mailReference(deps, own, welcome)
  if (lang !== undefined) await deps.chooseLanguage(own, lang)
  await putUnfinished(tx, { personId: tenant.tenantId, expiresAt: nowSecs(deps.clock) + unusedKeptSecs })
  const scope = plan.isNarrow ? narrowScope : undefined
  const session = await startPersonalSession(deps, own, {
    tenant,
    method: 'set-up',
    device,
    lifetimes,
    scope,
  })
  await note(deps, tx, { ...plan, isMailed })
  await audit(deps, own, { event: 'tenant.created', ip: device.ip, details: { by: 'registration' } })
  return { tenant, session }
}

async function note(
  deps: RegisterAccountDeps,
  tx: Writer,
  plan: ClaimedPlan & { readonly isMailed: boolean },
): Promise<void> {
  const { idTag, type, invitation, isMailed, device, claim } = plan
  const invitedBy = invitation?.createdBy
  const provider = claim?.providerTag
  await audit(deps, tx, {
    event: 'tenant.registered',
    ip: device.ip,
    details: {
      idTag,
      type,
      isMailed,
      ...(invitedBy === undefined ? {} : { invitedBy }),
      ...(provider === undefined ? {} : { provider }),
    },
  })
}
