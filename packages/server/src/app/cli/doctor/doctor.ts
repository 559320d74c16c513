import { createSecretKey, randomBytes } from 'node:crypto'
import { openSettings } from '#features/settings/index.ts'
import { findBaseTenant, type HostedTenant, openTenants } from '#features/tenants/index.ts'
import { type Config, ConfigError, describeUnknown } from '#infra/config/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { DnsResolver } from '#infra/dns/index.ts'
import {
  loadPresentMasterKey,
  openSignatures,
  openSigningKeys,
  openVault,
  type Vault,
} from '#infra/keys/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { openOutside } from '../../services.ts'
import { findSmtpUrl } from '../../settings-mailer.ts'
import type { Command } from '../command.ts'
import { columns } from '../help.ts'
import { manualPage } from '../manual-page.ts'
import { readCommandConfig } from '../open-program.ts'
import { openPresentDatabase } from '../present-database.ts'
import { examineCertificates } from './examine-certificates.ts'
import { examineData, type FoundDatabase } from './examine-data.ts'
import { examineMachine } from './examine-machine.ts'
import { examineNames } from './examine-names.ts'
import { examineNetwork, type NetworkDeps } from './examine-network.ts'
import { examineSecondaries } from './examine-secondaries.ts'
import { examineWork } from './examine-work.ts'
import { type Finding, ok, warning } from './finding.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Look for what keeps this server from working, and tell what to do about it.',
  description:
    'It changes nothing: it makes no directory, key or database and applies no migration; where the server keeps its data it makes an empty directory and removes it again, to see whether it can. What it says of ports, directories and certificates is what `kith serve` finds. A warning is for attention; a problem keeps something from working and lets the command exit with 1. Run it as the user that runs the server, with the same environment, beside the running server or without it.',
  positionals: [],
  options: {},
  async run(input) {
    const findings = await examineAll(() => readCommandConfig(input), systemClock)
    const isWell = findings.every(({ status }) => status !== 'problem')
    return { text: report(findings), data: { ok: isWell, checks: findings }, ok: isWell }
  },
}

// One more than addresses are looked at, so that it shows when there are others.
const mostLookedAt = 22

const words = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM' }

function report(findings: readonly Finding[]): string[] {
  const rows = findings.map(({ check, status, message }) => [words[status], check, message])
  const steps = findings.flatMap(({ check, advice }) =>
    advice === undefined ? [] : [`  ${check}: ${advice}`],
  )
  return [...columns(rows), ...(steps.length > 0 ? ['', 'What to do:', ...new Set(steps)] : [])]
}

async function examineAll(readConfig: () => Config, clock: Clock): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(misconfigured)
  }
  const found = await findDatabase(config)
  const outside = openOutside(config)
  try {
    const known = await learn(config, found, clock)
    const groups = [
      examineMachine(config, clock),
      examineData(config, found, clock),
      found.present?.isCurrent ? examineWork(config, found.present.db, clock) : [],
      examineNetwork({ config, clock, ...outside, ...known }),
      examineCertificates({ config, clock, db: found.present?.isCurrent ? found.present.db : undefined }),
      found.present?.isCurrent ? await lookAtNames(config, found.present.db, { clock, ...outside }) : [],
    ]
    return [examineVariables(config), ...(await Promise.all(groups.flat()))]
  } finally {
    await outside.egress.close()
    await found.present?.db.close()
  }
}

function examineVariables({ unknown }: Config): Finding {
  const check = 'Configuration'
  if (unknown.length === 0) return { check, ...ok('It can be read.') }
  const names = unknown.map(describeUnknown).join('; ')
  return { check, ...warning(`Not known: ${names}.`, `See ${manualPage('configuration.md')}.`) }
}

function misconfigured({ variable, message }: ConfigError['problems'][number]): Finding {
  const advice = `See ${manualPage('configuration.md')}.`
  return { check: 'Configuration', status: 'problem', message: `${variable} ${message}`, advice }
}

async function findDatabase(config: Config): Promise<FoundDatabase> {
  try {
    return { present: await openPresentDatabase(config) }
  } catch (error) {
    return { error }
  }
}

async function lookAtNames(
  config: Config,
  db: Database,
  outside: { readonly clock: Clock; readonly dns: DnsResolver },
): Promise<Promise<Finding>[]> {
  const deps = { config, db, vault: await openReadingVault(config), ...outside }
  return [...examineNames(deps), ...examineSecondaries(deps)]
}

/** Without a readable master key another serves, since the checks here read public data only; the key itself has a check of
 * its own. */
async function openReadingVault({ masterKey: location }: Config): Promise<Vault> {
  const masterKey = await loadPresentMasterKey(location).catch(() => createSecretKey(randomBytes(32)))
  return openVault({ masterKey })
}

/** What the checks of the network need of the database. */
async function learn(
  config: Config,
  { present, error }: FoundDatabase,
  clock: Clock,
): Promise<Pick<NetworkDeps, 'publicKeys' | 'tenants' | 'findSmtpUrl'>> {
  const { smtpUrl } = config.mail
  const isUnknown = present ? !present.isCurrent : error !== undefined
  if (!present || isUnknown)
    return { publicKeys: isUnknown ? undefined : [], tenants: [], findSmtpUrl: async () => smtpUrl }
  const { db } = present
  const vault = await openReadingVault(config)
  const keys = openSigningKeys({ db, vault, clock, signatures: openSignatures() })
  const publicKeysOf = async ({ tenantId }: HostedTenant) =>
    (await keys.list(tenantId)).map(({ publicKey }) => publicKey)
  const hosted = await openTenants({ db, clock }).list({ limit: mostLookedAt })
  const base = await findBaseTenant(db.reader(serverTenant))
  const others = hosted.filter(({ isBase, suspendedAt }) => !isBase && suspendedAt === undefined)
  return {
    publicKeys: base ? await publicKeysOf(base) : [],
    tenants: await Promise.all(
      others.map(async (tenant) => ({ idTag: tenant.idTag, publicKeys: await publicKeysOf(tenant) })),
    ),
    findSmtpUrl: async () => smtpUrl ?? (await findSmtpUrl(openSettings({ db, vault, clock }))),
  }
}
