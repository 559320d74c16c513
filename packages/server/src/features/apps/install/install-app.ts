import { type ActionId, compareAppVersions } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import { type HoldDeps, holdBlob, releaseBlob, useBlobs } from '#features/files/index.ts'
import { findViewer } from '#features/relations/index.ts'
import type { StagedBlob } from '#infra/blobs/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { AppOffer } from '../offers/app-offer.ts'
import { findOffer } from '../offers/offer-store.ts'
import { packageFault } from '../packages/package-fault.ts'
import { asksNoMore, type Packages } from '../packages/packages.ts'
import type { AppPackage } from '../packages/read-package.ts'
import { findPackage, type PackageSourceDeps } from './find-package.ts'
import type { InstalledApp } from './installed-app.ts'
import { changeInstalled, countInstalled, findInstalled, putInstalled } from './installed-app-store.ts'

export interface InstallDeps extends PackageSourceDeps, HoldDeps {
  readonly blobs: PackageSourceDeps['blobs']
  readonly packages: Packages
}

interface InstallRequest {
  readonly tenant: Tenant
  /** Who reads the offer. */
  readonly caller: Identified
  readonly actionId: ActionId
  /** As before when absent. */
  readonly autoUpdate?: boolean | undefined
  /** Set by the job for `autoUpdate`: no person has seen what the newer version asks for. */
  readonly isAutomatic?: true
  readonly ip?: string | undefined
  readonly signal: AbortSignal
}

const maxApps = 200

/** Installs an app that the caller may read the offer of, or brings it to the offered version: its package is checked,
 * copied to the tenant, and counted in its quota. */
export async function installApp(deps: InstallDeps, request: InstallRequest): Promise<InstalledApp> {
  const { tenant, autoUpdate, signal } = request
  const { tenantId } = tenant
  const offer = await getOffer(deps, deps.db.reader(tenantId), request)
  const before = await findInstalled(deps.db.reader(tenantId), offer)
  if (before && isSame(before, offer))
    return deps.db.transact(tenantId, async (tx) =>
      takeOffer(tx, await getOffer(deps, tx, request), autoUpdate),
    )
  if (before) assertNewer(before, offer)
  using _turn = await deps.packages.takeTurn(tenantId, signal)
  const { bytes, publisher } = await findPackage(deps, { tenant, offer, signal })
  const change = { ...request, offer, publisherId: publisher?.tenantId }
  let installed: InstalledApp | undefined
  await holdBlob(deps, tenantId, bytes, async (staged) => {
    const checked = await deps.packages.check({ asker: tenantId, file: staged, promised: offer, signal })
    return async (tx) => {
      installed = await write(deps, tx, { ...change, staged, checked })
    }
  })
  if (!installed) throw new TypeError('an app is written or refused')
  return installed
}

async function getOffer(
  { clock }: Pick<InstallDeps, 'clock'>,
  reader: Reader,
  { tenant, caller, actionId }: InstallRequest,
): Promise<AppOffer> {
  const viewer = await findViewer(reader, tenant, caller)
  const offer = await findOffer(reader, { viewer, now: nowSecs(clock), actionId })
  if (!offer) throw new Failure('E-ACTION-NOTFOUND')
  return offer
}

/** The same package, perhaps offered again. */
function isSame({ fileId, manifest }: InstalledApp, offer: AppOffer): boolean {
  return fileId === offer.fileId && manifest.version === offer.version
}

function assertNewer({ manifest }: InstalledApp, offer: AppOffer): void {
  if (compareAppVersions(offer.version, manifest.version) <= 0)
    throw new Failure('E-STATE', { message: 'The installed version is not older.' })
}

/** The identity tag of the publisher may belong to another account of this server now. A publisher that has moved to another
 * server has no account here to compare: a person has to install its next version. */
function assertSamePublisher(before: InstalledApp, { publisherId, isAutomatic }: Checked): void {
  const isKnown = before.publisherId === undefined || before.publisherId === publisherId
  if (isKnown || (publisherId === undefined && !isAutomatic)) return
  throw new Failure('E-STATE', {
    message: 'The installed app of this name is another publisher’s.',
    details: { reason: 'other-publisher' },
  })
}

function assertSameApp({ manifest }: InstalledApp, checked: AppPackage): void {
  if (manifest.id !== checked.manifest.id) throw packageFault('id-changed')
}

/** An update by itself asks for no capability and opens no type of files beyond those of the installed version: a person agreed
 * to those by installing it. */
function assertAsksNoMore({ manifest }: InstalledApp, checked: AppPackage): void {
  if (!asksNoMore(checked.manifest, manifest)) throw packageFault('asks-more')
}

/** The present version, as this offer has it. */
async function takeOffer(
  tx: Writer,
  offer: AppOffer,
  autoUpdate: boolean | undefined,
): Promise<InstalledApp> {
  const found = await findInstalled(tx, offer)
  if (!found) throw new Failure('E-STATE')
  const chosen: InstalledApp = {
    ...found,
    actionId: offer.actionId,
    autoUpdate: autoUpdate ?? found.autoUpdate,
    withdrawnAt: undefined,
  }
  await changeInstalled(tx, chosen)
  return chosen
}

interface Checked extends InstallRequest {
  readonly offer: AppOffer
  readonly publisherId: TenantId | undefined
  readonly staged: StagedBlob
  readonly checked: AppPackage
}

/** While the package was fetched and checked, the offer may have been taken back, and the app installed or uninstalled by
 * another request. */
async function write(deps: InstallDeps, tx: Writer, change: Checked): Promise<InstalledApp> {
  const { caller, autoUpdate, ip, publisherId, staged, checked } = change
  const offer = await getOffer(deps, tx, change)
  const before = await findInstalled(tx, offer)
  if (change.isAutomatic && !before?.autoUpdate) throw new Failure('E-STATE')
  if (before && isSame(before, offer)) return takeOffer(tx, offer, autoUpdate)
  if (before) assertFollows(before, change)
  else if ((await countInstalled(tx)) >= maxApps)
    throw new Failure('E-STATE', { message: 'The tenant has as many apps as it may have.' })
  const { publisherTag, actionId, fileId } = offer
  const { manifest, entries } = checked
  const now = nowSecs(deps.clock)
  const installed: InstalledApp = {
    ...{ publisherTag, publisherId, manifest, actionId, fileId },
    hash: staged.hash,
    autoUpdate: autoUpdate ?? before?.autoUpdate ?? false,
    withdrawnAt: undefined,
    installedAt: before?.installedAt ?? now,
    updatedAt: now,
  }
  await useBlobs(tx, [{ hash: staged.hash, size: staged.size, kind: 'others' }])
  await putInstalled(tx, installed, entries)
  if (before) await releaseBlob(tx, before.hash, now)
  const { name, version } = manifest
  await audit(deps, tx, {
    event: before ? 'app.upgraded' : 'app.installed',
    actorTag: caller.idTag,
    ip,
    details: { publisherTag, name, version, ...(before && { from: before.manifest.version }) },
  })
  return installed
}

function assertFollows(before: InstalledApp, change: Checked): void {
  const { offer, checked, isAutomatic } = change
  assertSamePublisher(before, change)
  assertNewer(before, offer)
  assertSameApp(before, checked)
  if (isAutomatic) assertAsksNoMore(before, checked)
}
