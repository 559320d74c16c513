import type { IdTag } from '@kith/protocol'
import type { Asker } from '#features/federation/index.ts'
import { findRelation } from '#features/relations/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { type DnsCheckDeps, whereDnsLeads } from './dns-check.ts'
import { isLocalName, labelsBelow, type NameKind, refusalOf } from './name-rules.ts'
import { isQuarantined } from './quarantined-name-store.ts'
import type { RemoteProviders } from './remote-providers.ts'
import { findTenantAbove, namesAbove } from './tenant-above.ts'

interface NameCheckDeps extends DnsCheckDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'find' | 'findByHost'>
  readonly baseIdTag: IdTag
  /** False: only the base tenant can be reached. */
  readonly servesEveryTenant: boolean
  readonly providers: Pick<RemoteProviders, 'find' | 'check'>
  findReservedNames(): Promise<readonly string[]>
  /** Has an identity provider of this server given one of the names, or does one rest there? */
  isProvided(names: readonly IdTag[]): Promise<boolean>
  /** Does a proxy site of this server have it? */
  isProxied(name: IdTag): Promise<boolean>
  /** Is it in a blocked domain? */
  isBlockedDomain(name: IdTag): Promise<boolean>
}

export interface WantedName {
  readonly idTag: IdTag
  readonly kind: NameKind
  readonly appDomain?: IdTag | undefined
}

/** One reason why a name is not available; `code` as on the wire. */
interface NameProblem {
  readonly code: 'E-PROFILE-EXISTS' | 'E-VALIDATION' | 'E-DNS'
  readonly path: '/idTag' | '/appDomain'
  readonly message: string
}

/** Tells whether names are available on this server. To be made once per process: its questions to other servers are
 * counted, for each asker apart. */
export interface NameCheck {
  /** All reasons against the name now. `E-UNAVAILABLE` when the DNS does not answer. */
  find(wanted: WantedName, asker: Asker): Promise<NameProblem[]>
  /** Fails with the first problem: `E-PROFILE-EXISTS`, else `E-VALIDATION`. */
  assert(wanted: WantedName, asker: Asker): Promise<void>
  /** Where the DNS of an own domain has to point. */
  readonly serverAddresses: readonly string[]
}

// A question may take some seconds, and any client may ask. The first gate refuses an asker with too many
// questions, so that the second has places for others.
const askerLimits = { total: 128, perKey: 2, waitingPerKey: 4, waiting: 256 }
const nameLimits = { total: 16, perKey: 2, waitingPerKey: 64, waiting: 128 }

const taken = { code: 'E-PROFILE-EXISTS', message: 'This name is taken.' } as const
const elsewhere = { code: 'E-DNS', message: 'The DNS of this name does not lead to this server.' } as const

export function openNameCheck(deps: NameCheckDeps): NameCheck {
  const askers = new Gate(askerLimits)
  const gate = new Gate(nameLimits)

  async function find(wanted: WantedName, asker: Asker): Promise<NameProblem[]> {
    const problems = [...(await idTagProblems(deps, wanted)), ...(await appDomainProblems(deps, wanted))]
    if (problems.length > 0) return problems
    return inTurn(askers, `${asker.cause} ${asker.key}`, () => askOthers(wanted, asker))
  }

  async function askOthers(wanted: WantedName, asker: Asker): Promise<NameProblem[]> {
    const problems: NameProblem[] = []
    if (isOfOtherProvider(deps, wanted)) {
      const problem = await inTurn(gate, parentOf(wanted.idTag), () =>
        providerProblem(deps, wanted.idTag, asker),
      )
      if (problem) return [problem]
    }
    for (const { name, path } of namesToAsk(deps, wanted))
      if (!(await inTurn(gate, name, () => leadsHere(deps, name)))) problems.push({ ...elsewhere, path })
    return problems
  }

  return {
    find,
    async assert(wanted, asker) {
      const [problem] = await find(wanted, asker)
      if (!problem) return
      const { code, path, message } = problem
      if (code === 'E-PROFILE-EXISTS') throw new Failure(code, { message })
      throw new Failure('E-VALIDATION', { message, details: { issues: [{ path, message }], errors: [code] } })
    },
    serverAddresses: deps.localAddresses,
  }
}

/** Is it a name that a provider on another server would have to give? */
export function isOfOtherProvider(
  { baseIdTag }: Pick<NameCheckDeps, 'baseIdTag'>,
  { idTag, kind }: WantedName,
): boolean {
  return kind === 'idp' && labelsBelow(idTag, baseIdTag) === undefined
}

async function providerProblem(
  { providers }: NameCheckDeps,
  idTag: IdTag,
  asker: Asker,
): Promise<NameProblem | undefined> {
  const path = '/idTag'
  const provider = await providers.find(idTag, asker)
  const verdict = provider ? await providers.check(provider, idTag) : 'refused'
  if (verdict === 'refused') return refused(path, 'No provider gives this name.')
  return verdict === 'taken' ? { ...taken, path } : undefined
}

async function idTagProblems(deps: NameCheckDeps, wanted: WantedName): Promise<NameProblem[]> {
  const { idTag } = wanted
  const path = '/idTag'
  const { baseIdTag, servesEveryTenant, localAddresses: ownHosts } = deps
  if (!servesEveryTenant) return [refused(path, `This server serves ${baseIdTag} alone.`)]
  const rules = { baseIdTag, ownHosts, reserved: await deps.findReservedNames() }
  // A name of another provider is checked like an own domain.
  const kind = isOfOtherProvider(deps, wanted) ? 'domain' : wanted.kind
  const refusal = refusalOf(idTag, kind, rules)
  if (refusal !== undefined) return [refused(path, refusal)]
  if (await deps.isBlockedDomain(idTag)) return [refused(path, 'This server blocks this domain.')]
  return (await isTaken(deps, idTag)) ? [{ ...taken, path }] : []
}

async function appDomainProblems(
  deps: NameCheckDeps,
  { idTag, appDomain }: WantedName,
): Promise<NameProblem[]> {
  if (appDomain === undefined) return []
  const path = '/appDomain'
  if (appDomain === idTag) return [refused(path, 'This is the identity itself.')]
  // What lies below the identity is its own; the rest of the server's domain is for identities.
  if (labelsBelow(appDomain, idTag)) return (await isHost(deps, appDomain)) ? [{ ...taken, path }] : []
  const rules = { baseIdTag: deps.baseIdTag, ownHosts: deps.localAddresses, reserved: [] }
  const isOurs = labelsBelow(appDomain, deps.baseIdTag) !== undefined
  const refusal = isOurs ? 'This name is for an identity.' : refusalOf(appDomain, 'domain', rules)
  if (refusal !== undefined) return [refused(path, refusal)]
  return (await isTaken(deps, appDomain)) ? [{ ...taken, path }] : []
}

function refused(path: NameProblem['path'], message: string): NameProblem {
  return { code: 'E-VALIDATION', path, message }
}

/** Does this server answer on it already? */
async function isHost({ tenants, isProxied }: NameCheckDeps, name: IdTag): Promise<boolean> {
  return (await tenants.findByHost(name)) !== undefined || isProxied(name)
}

/** Is it taken: by a tenant, as an app domain, by a proxy site, in quarantine, or because it is, or lies below, the name of a tenant or of
 * an identity that a provider of this server manages? */
async function isTaken(deps: NameCheckDeps, name: IdTag): Promise<boolean> {
  const { db, clock, isProvided } = deps
  if (await isHost(deps, name)) return true
  const reader = db.reader(serverTenant)
  const relation = await findRelation(reader, name)
  if (relation?.isBlocked) return true
  if (await isQuarantined(reader, name, nowSecs(clock))) return true
  if (await findTenantAbove(deps, name)) return true
  return isProvided([name, ...namesAbove(name)])
}

/** Names below the server's own domain lead where that does, unless the client says that it is an own domain. */
function namesToAsk({ baseIdTag, identityHosts }: NameCheckDeps, { idTag, kind, appDomain }: WantedName) {
  const needsDns = kind === 'domain' || (kind === 'community' && labelsBelow(idTag, baseIdTag) === undefined)
  const names: { readonly name: IdTag; readonly path: NameProblem['path'] }[] = []
  if (needsDns) names.push({ name: idTag, path: '/idTag' })
  if (appDomain !== undefined) names.push({ name: appDomain, path: '/appDomain' })
  // A name in the operator's own list is looked up there, whatever its kind.
  if (!needsDns && identityHosts.has(idTag)) names.push({ name: idTag, path: '/idTag' })
  return names.filter(({ name }) => !isLocalName(name) || identityHosts.has(name))
}

async function leadsHere(deps: NameCheckDeps, name: IdTag): Promise<boolean> {
  const verdict = await whereDnsLeads(deps, name)
  if (verdict === 'unknown')
    throw new Failure('E-UNAVAILABLE', {
      message: 'The DNS of this name does not answer. Try again later.',
    })
  return verdict === 'here'
}

function parentOf(idTag: IdTag): string {
  return idTag.slice(idTag.indexOf('.') + 1)
}

async function inTurn<Result>(gate: Gate, name: string, work: () => Promise<Result>): Promise<Result> {
  const leave = await gate.enter(name).catch((error: unknown) => {
    throw error instanceof GateFullError
      ? new Failure('E-UNAVAILABLE', { retryAfterSecs: 5, cause: error })
      : error
  })
  try {
    return await work()
  } finally {
    leave()
  }
}
