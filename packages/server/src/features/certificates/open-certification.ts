import { LRUCache } from 'lru-cache'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import { type Jobs, recurring } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { type ChallengeType, challengeCertificate, type KeyPair } from '#infra/tls/index.ts'
import type { Clock } from '#lib/clock.ts'
import { findStored } from './certificate-store.ts'
import { ChallengeAnswers } from './challenge-answers.ts'
import { openAccount } from './open-account.ts'
import { type OrderDeps, orderCertificate, orderJob } from './order-certificate.ts'
import { type ReportDeps, reportEveryMs, reportFailing } from './report-failing.ts'
import { certificateKeySeal } from './sealed-keys.ts'
import { lookJob, type SweepDeps, sweepCertificates } from './sweep-certificates.ts'

interface CertificationDeps extends Pick<SweepDeps, 'listNames' | 'zoneOf'>, Pick<ReportDeps, 'tellAdmin'> {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly logger: Logger
  readonly jobs: Jobs
  readonly egress: Pick<Egress, 'request'>
  readonly directoryUrl: string
  readonly email: string | undefined
  readonly challenge: ChallengeType
  readonly whereLeads: OrderDeps['whereLeads']
  readonly onIssued: OrderDeps['onIssued']
}

/** Certificates of the names that this server answers for. */
export interface Certification {
  /** What is served for a name. */
  read(name: string): Promise<KeyPair | undefined>
  /** The text that proves a token to an authority that asks by http. */
  answer(token: string): Promise<string | undefined>
  /** The certificate that proves a name to an authority that asks in a handshake. */
  proof(name: string): Promise<KeyPair | undefined>
}

// As many as orders under way that are looked at.
const maxProofs = 200
const sweepEveryMs = 5 * 60_000

/** Registers the jobs that get and renew certificates. */
export function openCertification(deps: CertificationDeps): Certification {
  const { db, vault, jobs } = deps
  const account = openAccount(deps)
  const sweep: SweepDeps = { ...deps, account, random: Math.random }
  jobs.handle(orderJob, ({ name }) => orderCertificate({ ...deps, account }, name))
  jobs.handle(lookJob, () => sweepCertificates(sweep))
  recurring(jobs, {
    name: 'certificates.sweep',
    everyMs: sweepEveryMs,
    run: () => sweepCertificates(sweep),
  })
  recurring(jobs, {
    name: 'certificates.report',
    everyMs: reportEveryMs,
    run: () => reportFailing(deps),
  })
  const answers = new ChallengeAnswers(db)
  // Strangers may ask too, and each costs a key.
  const proofs = new LRUCache<string, Promise<KeyPair>>({ max: maxProofs })
  return {
    async read(name) {
      const stored = await findStored(db.reader(serverTenant), name)
      if (!stored) return undefined
      const key = vault.unseal(certificateKeySeal, serverTenant, stored.sealedKey)
      return { cert: stored.chain, key: Buffer.from(key).toString() }
    },
    async answer(token) {
      const found = await answers.find((one) => one.token === token && one.type === 'http-01')
      return found?.keyAuthorization
    },
    async proof(name) {
      const found = await answers.find((one) => one.name === name && one.type === 'tls-alpn-01')
      if (!found) return undefined
      const { keyAuthorization } = found
      const proof = proofs.get(keyAuthorization) ?? challengeCertificate(name, keyAuthorization)
      proofs.set(keyAuthorization, proof)
      return await proof
    },
  }
}
