import { appPackageLimits } from '@kith/protocol'
import {
  findAccessibleFile,
  findRemoteBytes,
  findViewerNamed,
  type RemoteDeps,
  type StageableBytes,
} from '#features/files/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { AppOffer } from '../offers/app-offer.ts'
import { packageFault } from '../packages/package-fault.ts'

export interface PackageSourceDeps extends RemoteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly blobs: Pick<BlobStore, 'stage' | 'open'>
  readonly tenants: Pick<Tenants, 'find'>
}

interface PackageQuestion {
  /** Who installs it. */
  readonly tenant: Tenant
  readonly offer: Pick<AppOffer, 'publisherTag' | 'fileId'>
  readonly signal: AbortSignal
}

/** A package that is to be installed. */
export interface FoundPackage {
  readonly bytes: StageableBytes
  /** Its publisher, where that is a tenant of this server. */
  readonly publisher: HostedTenant | undefined
}

/** The package of an offer, as far as the tenant may read it: read here where its publisher is a tenant of this server, and
 * from the publisher's server otherwise. */
export async function findPackage(deps: PackageSourceDeps, question: PackageQuestion): Promise<FoundPackage> {
  const { tenant, offer, signal } = question
  const publisher = await deps.tenants.find(offer.publisherTag)
  const { publisherTag: ownerTag, fileId } = offer
  const bytes = publisher
    ? await findBytesHere(deps, publisher, question)
    : await findRemoteBytes(deps, { tenantId: tenant.tenantId, fileId, ownerTag, signal })
  if (bytes.size > appPackageLimits.bytes) throw packageFault('too-large')
  return { bytes, publisher }
}

async function findBytesHere(
  { db, clock, blobs }: PackageSourceDeps,
  publisher: HostedTenant,
  { tenant, offer, signal }: PackageQuestion,
): Promise<StageableBytes> {
  const files = db.reader(publisher.tenantId)
  const viewer = await findViewerNamed(files, publisher, tenant.idTag)
  const found = await findAccessibleFile(files, viewer, { fileId: offer.fileId, now: nowSecs(clock) })
  const { content, isCopy, status, size = 0 } = found?.file ?? {}
  if (publisher.suspendedAt !== undefined || !content || isCopy || status === 'D')
    throw new Failure('E-ACTION-NOTFOUND')
  const { hash } = content
  return {
    size,
    stage: async () => {
      const source = await blobs.open(publisher.tenantId, hash)
      if (!source) throw damaged(hash)
      const staged = await blobs.stage(tenant.tenantId, source, {
        maxBytes: size,
        expectedBytes: size,
        signal,
      })
      if (staged.hash === hash) return staged
      await staged.discard()
      throw damaged(hash)
    },
  }
}

function damaged(hash: string): Failure {
  return new Failure('E-UNAVAILABLE', { cause: new Error(`blob ${hash} is missing or has other bytes`) })
}
