import { type ActionId, compareAppVersions } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import {
  findAccessibleFile,
  findViewerNamed,
  type HoldDeps,
  holdBlob,
  releaseBlob,
  useBlobs,
} from '#features/files/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { AppOffer } from '../offers/app-offer.ts'
import { findOffer, findOfferedApp } from '../offers/offer-store.ts'
import { findPublisher, type PublisherDeps } from '../offers/publishers.ts'
import { packageFault } from '../packages/package-fault.ts'
import type { PackagePlace, Packages } from '../packages/packages.ts'
import type { AppPackage } from '../packages/read-package.ts'
import type { InstalledApp } from './installed-app.ts'
import { countInstalled, findInstalled, putInstalled, setAutoUpdate } from './installed-app-store.ts'

export interface InstallDeps extends PublisherDeps, HoldDeps {
  readonly packages: Packages
}

interface InstallRequest {
  readonly tenant: Tenant
  /** Who reads the offer. */
  readonly caller: Pick<Identified, 'idTag'>
  readonly actionId: ActionId
  /** As before when absent. */
  readonly autoUpdate?: boolean | undefined
  readonly ip?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const maxApps = 200

/** Installs an app that the caller may read the offer of, or brings it to the offered version: its package is checked,
 * copied to the tenant, and counted in its quota. */
export async function installApp(deps: InstallDeps, request: InstallRequest): Promise<InstalledApp> {
  const { db } = deps
  const { tenant, autoUpdate, signal } = request
  const { offer, place } = await getOffered(deps, request)
  const before = await findInstalled(db.reader(tenant.tenantId), offer)
  if (before && isSame(before, offer))
    return db.transact(tenant.tenantId, (tx) => chooseUpdates(tx, offer, autoUpdate))
  if (before) assertNewer(before, offer)
  const work = { asker: tenant.tenantId, place, promised: offer, signal }
  return deps.packages.check(work, async (checked, source) => {
    if (before) assertSameApp(before, checked)
    let installed: InstalledApp | undefined
    await holdBlob(deps, tenant.tenantId, { ...place, source, signal }, async (tx) => {
      installed = await write(deps, tx, { ...request, offer, place, checked })
    })
    if (!installed) throw new TypeError('an app is written or refused')
    return installed
  })
}

/** The offer with the place of its package, when the caller may read both. */
async function getOffered(
  deps: InstallDeps,
  { tenant, caller, actionId }: InstallRequest,
): Promise<{ readonly offer: AppOffer; readonly place: PackagePlace }> {
  const unknown = () => new Failure('E-ACTION-NOTFOUND')
  const now = nowSecs(deps.clock)
  const reader = deps.db.reader(serverTenant)
  const made = await findOfferedApp(reader, actionId)
  const reading = { tenant, readerTag: caller.idTag }
  const publisher = made && (await findPublisher(deps, reading, made.publisherId))
  const offer = publisher && (await findOffer(reader, { publishers: [publisher], now, actionId }))
  if (!offer) throw unknown()
  const files = deps.db.reader(publisher.tenant.tenantId)
  const who = await findViewerNamed(files, publisher.tenant, caller.idTag)
  const found = await findAccessibleFile(files, who, { fileId: offer.fileId, now })
  const { file } = found ?? {}
  if (!file?.content || file.isCopy || file.status === 'D') throw unknown()
  return {
    offer,
    place: { tenantId: publisher.tenant.tenantId, hash: file.content.hash, size: file.size },
  }
}

function isSame({ fileId, manifest }: InstalledApp, offer: AppOffer): boolean {
  return fileId === offer.fileId && manifest.version === offer.version
}

function assertNewer({ manifest, publisherId }: InstalledApp, offer: AppOffer): void {
  // The identity tag of the publisher may belong to another identity now.
  if (publisherId !== undefined && publisherId !== offer.publisherId)
    throw new Failure('E-STATE', { message: 'The installed app of this name is another publisher’s.' })
  if (compareAppVersions(offer.version, manifest.version) <= 0)
    throw new Failure('E-STATE', { message: 'The installed version is not older.' })
}

function assertSameApp({ manifest }: InstalledApp, checked: AppPackage): void {
  if (manifest.id !== checked.manifest.id) throw packageFault('id-changed')
}

async function chooseUpdates(
  tx: Writer,
  offer: AppOffer,
  autoUpdate: boolean | undefined,
): Promise<InstalledApp> {
  const found = await findInstalled(tx, offer)
  if (!found) throw new Failure('E-STATE')
  if (autoUpdate === undefined || autoUpdate === found.autoUpdate) return found
  await setAutoUpdate(tx, offer, autoUpdate)
  return { ...found, autoUpdate }
}

interface Checked extends InstallRequest {
  readonly offer: AppOffer
  readonly place: PackagePlace
  readonly checked: AppPackage
}

/** Another request may have installed the app meanwhile. */
async function write(
  deps: InstallDeps,
  tx: Writer,
  { caller, autoUpdate, ip, offer, place, checked }: Checked,
): Promise<InstalledApp> {
  const before = await findInstalled(tx, offer)
  if (before && isSame(before, offer)) return chooseUpdates(tx, offer, autoUpdate)
  if (before) {
    assertNewer(before, offer)
    assertSameApp(before, checked)
  } else if ((await countInstalled(tx)) >= maxApps)
    throw new Failure('E-STATE', { message: 'The tenant has as many apps as it may have.' })
  const now = nowSecs(deps.clock)
  const installed: InstalledApp = {
    publisherTag: offer.publisherTag,
    publisherId: offer.publisherId,
    manifest: checked.manifest,
    actionId: offer.actionId,
    fileId: offer.fileId,
    hash: place.hash,
    autoUpdate: autoUpdate ?? before?.autoUpdate ?? false,
    installedAt: before?.installedAt ?? now,
    updatedAt: now,
  }
  await useBlobs(tx, [{ ...place, kind: 'others' }])
  await putInstalled(tx, installed, checked.entries)
  if (before) await releaseBlob(tx, before.hash, now)
  const { name, version } = checked.manifest
  await audit(deps, tx, {
    event: before ? 'app.upgraded' : 'app.installed',
    actorTag: caller.idTag,
    ip,
    details: {
      publisherTag: offer.publisherTag,
      name,
      version,
      ...(before && { from: before.manifest.version }),
    },
  })
  return installed
}
