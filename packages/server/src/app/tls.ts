import {
  challengeRoute,
  listCertifiedNames,
  noteNameChange,
  openCertification,
  summarize,
  tellAdmin,
  whereNameLeads,
  zoneOf,
} from '#features/certificates/index.ts'
import type { AcmeConfig, TlsConfig } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { createEgress, type Egress } from '#infra/egress/index.ts'
import { type RawRoute, type SecureListening, secureListening } from '#infra/http/index.ts'
import {
  answerChallengeHandshakes,
  CertificateFiles,
  type Certificates,
  ServedCertificates,
} from '#infra/tls/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import type { Addresses } from './addresses.ts'
import { readAuthorityCertificate, tellingOfFiles } from './check-tls-files.ts'
import type { Features } from './features.ts'
import type { Services } from './services.ts'
import { version } from './version.ts'

/** TLS that this server ends itself. */
export interface Tls {
  readonly listening: SecureListening
  /** What authorities ask for, on every host. */
  readonly rawRoutes: readonly RawRoute[]
  /** Reads the certificate of the operator anew, where there is one. */
  reload(): Promise<void>
  /** Has certificates ordered that are missing. */
  start(): Promise<void>
  close(): Promise<void>
}

/** Undefined where a proxy in front ends TLS. */
export async function openTls(
  services: Services,
  features: Pick<Features, 'identity' | 'proxy'>,
  addresses: Addresses,
): Promise<Tls | undefined> {
  const { tls } = services.config
  if (tls.kind === 'files') return await openFiles(services, tls)
  if (tls.kind === 'acme') return await openAcme(services, { ...features, addresses, acme: tls })
  return undefined
}

async function openFiles(
  { clock, logger, metrics }: Services,
  { certFile, keyFile }: TlsConfig & { readonly kind: 'files' },
): Promise<Tls> {
  const open = () =>
    CertificateFiles.open({
      certFile,
      keyFile,
      clock,
      onLoaded({ notBefore, notAfter }) {
        metrics.certificates({ names: 1, missing: 0, failing: 0, firstEnd: notAfter })
        const [validFrom, expiresAt] = [notBefore, notAfter].map((secs) =>
          new Date(secs * 1000).toISOString(),
        )
        const isValid = notBefore <= nowSecs(clock) && nowSecs(clock) < notAfter
        if (isValid) logger.info({ certFile, expiresAt }, 'serving a certificate')
        else logger.warn({ certFile, validFrom, expiresAt }, 'serving a certificate that is not valid now')
      },
      onRefused: (err) => logger.error({ err, certFile }, 'a changed certificate cannot be served'),
    })
  const files = await tellingOfFiles(open)
  return {
    listening: await secureListening(files),
    rawRoutes: [],
    reload: () => files.reload(),
    start: async () => undefined,
    close: () => files[Symbol.asyncDispose](),
  }
}

type AcmeParts = Pick<Features, 'identity' | 'proxy'> & {
  readonly addresses: Addresses
  readonly acme: AcmeConfig
}

const countEveryMs = 60_000

async function openAcme(services: Services, { acme, ...parts }: AcmeParts): Promise<Tls> {
  const { db, clock, logger, metrics, jobs } = services
  const authority = await openAuthorityEgress(services, acme)
  const certification = openCertification({
    ...services,
    ...acme,
    ...namePorts(services, parts),
    tellAdmin: (tx, states) => tellAdmin({ jobs, clock, email: acme.email }, tx, states),
    egress: authority,
    onIssued: (name) => served.forget(name),
  })
  const served = new ServedCertificates({
    clock,
    read: certification.read,
    onError: (err) => logger.error({ err }, 'a certificate cannot be served'),
  })
  const counting = new PeriodicWork({
    clock,
    everyMs: countEveryMs,
    work: async () => metrics.certificates(await summarize(db.reader(serverTenant))),
    onError: (err) => logger.error({ err }, 'the certificates could not be counted'),
  })
  counting.start()
  const watchHandshakes: Certificates['watchHandshakes'] = (server) =>
    answerChallengeHandshakes(server, { clock, find: certification.proof })
  return {
    listening: await secureListening({
      find: (name) => served.find(name),
      onDefault: () => served.onDefault(),
      ...(acme.challenge === 'tls-alpn-01' ? { watchHandshakes } : {}),
    }),
    rawRoutes: [challengeRoute(certification)],
    reload: async () => undefined,
    async start() {
      await db.transact(serverTenant, (tx) => noteNameChange({ jobs, isOn: true }, tx))
      await counting.run()
    },
    async close() {
      counting.stop()
      await counting.settled()
      if (authority !== services.egress) await authority.close()
    },
  }
}

/** What the orders need to know of names. */
function namePorts(
  { dns, config }: Services,
  { identity, proxy, addresses }: Omit<AcmeParts, 'acme'>,
): Pick<Parameters<typeof openCertification>[0], 'listNames' | 'zoneOf' | 'whereLeads'> {
  const { tenants } = identity
  const { findServerUrl } = addresses
  const { localAddresses } = config.federation
  return {
    listNames: () => listCertifiedNames({ tenants, findServerUrl, sites: proxy.sites }),
    zoneOf,
    whereLeads: (name) => whereNameLeads({ dns, localAddresses }, name),
  }
}

/** A private authority is trusted by this client alone. */
async function openAuthorityEgress(
  { config, egress, dns, loopGuard }: Services,
  { caFile }: AcmeConfig,
): Promise<Egress> {
  if (caFile === undefined) return egress
  const certificate = await readAuthorityCertificate(caFile)
  return createEgress({
    privateNetworks: config.federation.allowPrivateNetwork,
    resolver: dns,
    userAgent: `Kith/${version}`,
    loopGuard,
    trustedCertificates: [certificate],
  })
}
