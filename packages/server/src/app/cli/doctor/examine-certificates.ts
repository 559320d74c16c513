import {
  type CertificateState,
  describeLife,
  eachPage,
  hasEnded,
  likelyMending,
} from '#features/certificates/index.ts'
import type { Config } from '#infra/config/index.ts'
import type { Database } from '#infra/db/index.ts'
import { checkChain, isForName, readFiles } from '#infra/tls/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { readAuthorityCertificate } from '../../check-tls-files.ts'
import { counted } from '../help.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'

interface CertificatesDeps {
  readonly config: Config
  /** Undefined where it cannot be read, or is of another version. */
  readonly db: Database | undefined
  readonly clock: Clock
}

const daySecs = 86_400
// The rest is told as a number.
const mostShown = 20

/** The certificates of a server that ends TLS itself. */
export function examineCertificates(deps: CertificatesDeps): Promise<Finding>[] {
  const { tls } = deps.config
  if (tls.kind === 'files') return [examine('Certificate', () => examineFiles(deps, tls))]
  if (tls.kind === 'off') return []
  const { caFile } = tls
  return [
    ...(caFile === undefined ? [] : [examine('Authority', () => examineAuthority(caFile))]),
    ...(deps.db ? [examine('Certificates', () => examineNames(deps, deps.db))] : []),
  ]
}

async function examineAuthority(caFile: string): Promise<Verdict> {
  await readAuthorityCertificate(caFile)
  return ok(`It is checked with ${caFile}.`)
}

async function examineFiles(
  { config, clock }: CertificatesDeps,
  files: Parameters<typeof readFiles>[0],
): Promise<Verdict> {
  const { cert, key } = await readFiles(files)
  const { pem, notBefore, notAfter } = checkChain(cert, key)
  const days = Math.floor((notAfter - nowSecs(clock)) / daySecs)
  if (days < 0) return problem('The certificate in TLS_CERT has ended.', 'Renew it.')
  if (notBefore > nowSecs(clock))
    return problem('The certificate in TLS_CERT is not valid yet.', 'Check the clock of this machine.')
  if (!isForName(pem, config.baseIdTag))
    return warning(
      `The certificate in TLS_CERT is not for ${config.baseIdTag}.`,
      'Browsers refuse names that are not in it.',
    )
  if (days < 14) return warning(`The certificate in TLS_CERT ends in ${days} days.`, 'Renew it.')
  return ok(`The certificate in TLS_CERT ends in ${days} days.`)
}

async function examineNames({ clock }: CertificatesDeps, db: Database | undefined): Promise<Verdict> {
  const now = nowSecs(clock)
  const states = db ? (await Array.fromAsync(eachPage(db))).flat() : []
  const wanted = states.filter(({ unwantedSince }) => unwantedSince === undefined)
  const failing = wanted.filter((state) => state.fault !== undefined || hasEnded(state, now))
  const missing = wanted.filter(({ notAfter, fault }) => notAfter === undefined && fault === undefined)
  if (wanted.length === 0) return ok('No name yet: the running server finds them.')
  if (failing.length > 0) return told(failing, now)
  if (missing.length > 0) return ok(`${namesOf(missing)}: a certificate is on its way.`)
  const first = Math.min(...wanted.map(({ notAfter = 0 }) => notAfter))
  return ok(
    `${counted(wanted.length, 'name')} with a certificate; the first ends in ${daysTo(first, now)} days.`,
  )
}

function told(failing: readonly CertificateState[], now: number): Verdict {
  const lines = failing
    .slice(0, mostShown)
    .map(
      (state) =>
        `${state.name} (${describeLife(state, now)}): ${state.fault?.detail ?? 'not renewed in time'}`,
    )
  const advice = new Set(failing.flatMap(({ fault }) => (fault ? [likelyMending(fault)] : [])))
  const isDown = failing.some((state) => state.notAfter === undefined || hasEnded(state, now))
  const verdict = isDown ? problem : warning
  return verdict([...lines, ...restOf(failing)].join('; '), [...advice].join(' '))
}

const daysTo = (at: number, now: number) => Math.floor((at - now) / daySecs)
const namesOf = (states: readonly CertificateState[]) =>
  [...states.slice(0, mostShown).map(({ name }) => name), ...restOf(states)].join(', ')
const restOf = ({ length }: readonly unknown[]) =>
  length > mostShown ? [`and ${length - mostShown} more (kith certificate list)`] : []
