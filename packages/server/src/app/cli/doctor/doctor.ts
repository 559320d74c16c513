import { createSecretKey, randomBytes } from 'node:crypto'
import { openSettings } from '#features/settings/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { loadPresentMasterKey, openSignatures, openSigningKeys, openVault } from '#infra/keys/index.ts'
import { type Clock, systemClock } from '#lib/clock.ts'
import { openOutside } from '../../services.ts'
import { findSmtpUrl } from '../../settings-mailer.ts'
import type { Command } from '../command.ts'
import { columns } from '../help.ts'
import { readCommandConfig } from '../open-program.ts'
import { openPresentDatabase } from '../present-database.ts'
import { examineData, type FoundDatabase } from './examine-data.ts'
import { examineMachine } from './examine-machine.ts'
import { examineNetwork, type NetworkDeps } from './examine-network.ts'
import { examineWork } from './examine-work.ts'
import { type Finding, ok } from './finding.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Look for what keeps this server from working, and tell what to do about it.',
  description:
    'It changes nothing: it makes no directory, key or database and applies no migration. A warning is for attention; a problem keeps something from working and lets the command exit with 1. Run it as the user that runs the server, with the same environment, beside the running server or without it.',
  positionals: [],
  options: {},
  async run(input) {
    const findings = await examineAll(() => readCommandConfig(input), systemClock)
    const isWell = findings.every(({ status }) => status !== 'problem')
    return { text: report(findings), data: { ok: isWell, checks: findings }, ok: isWell }
  },
}

const words = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM' }

function report(findings: readonly Finding[]): string {
  const rows = findings.map(({ check, status, message }) => [words[status], check, message])
  const steps = findings.flatMap(({ check, advice }) =>
    advice === undefined ? [] : [`  ${check}: ${advice}`],
  )
  return [...columns(rows), ...(steps.length > 0 ? ['', 'What to do:', ...new Set(steps)] : [])].join('\n')
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
    ]
    const configured: Finding = { check: 'Configuration', ...ok('It can be read.') }
    return [configured, ...(await Promise.all(groups.flat()))]
  } finally {
    await outside.egress.close()
    await found.present?.db.close()
  }
}

function misconfigured({ variable, message }: ConfigError['problems'][number]): Finding {
  const advice = 'See docs/operations/configuration.md.'
  return { check: 'Configuration', status: 'problem', message: `${variable} ${message}`, advice }
}

async function findDatabase(config: Config): Promise<FoundDatabase> {
  try {
    return { present: await openPresentDatabase(config) }
  } catch (error) {
    return { error }
  }
}

/** What the checks of the network need of the database. */
async function learn(
  config: Config,
  { present, error }: FoundDatabase,
  clock: Clock,
): Promise<Pick<NetworkDeps, 'publicKeys' | 'findSmtpUrl'>> {
  const { smtpUrl } = config.mail
  const isUnknown = present ? !present.isCurrent : error !== undefined
  if (!present || isUnknown)
    return { publicKeys: isUnknown ? undefined : [], findSmtpUrl: async () => smtpUrl }
  const { db } = present
  // Public keys can be read without it, and a check of its own tells of it.
  const masterKey = await loadPresentMasterKey(config.masterKey).catch(() => createSecretKey(randomBytes(32)))
  const vault = openVault({ masterKey })
  const keys = openSigningKeys({ db, vault, clock, signatures: openSignatures() })
  const base = await findBaseTenant(db.reader(serverTenant))
  const listed = base ? await keys.list(base.tenantId) : []
  return {
    publicKeys: listed.map(({ publicKey }) => publicKey),
    findSmtpUrl: async () => smtpUrl ?? (await findSmtpUrl(openSettings({ db, vault, clock }))),
  }
}
