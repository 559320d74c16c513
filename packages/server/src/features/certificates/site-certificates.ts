import type { SiteCertificates } from '#features/proxy/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { listEnds } from './certificate-store.ts'
import { zoneOf } from './certified-names.ts'
import { renewCertificate } from './renew-certificate.ts'

interface SiteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  /** Whether the server gets certificates itself. */
  readonly isOn: boolean
}

/** The certificates of proxy sites; undefined where the server gets none itself. */
export function openSiteCertificates({ db, clock, jobs, isOn }: SiteDeps): SiteCertificates | undefined {
  if (!isOn) return undefined
  return {
    listEnds: (domains) => listEnds(db.reader(serverTenant), domains),
    async renew(name) {
      const zone = await zoneOf(name)
      const { heldUntil } = await db.transact(serverTenant, (tx) =>
        renewCertificate({ clock, jobs }, tx, { name, zone }),
      )
      if (heldUntil === undefined) return
      throw new Failure('E-UNAVAILABLE', {
        message: 'The certificate authority limits how much it issues for this domain.',
        retryAfterSecs: heldUntil - nowSecs(clock),
      })
    },
  }
}
