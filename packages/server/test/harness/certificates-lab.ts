import { createSecretKey } from 'node:crypto'
import {
  certificateAuthorityMigrations,
  certificatesMigrations,
  findState,
  noteNameChange,
  openCertification,
} from '#features/certificates/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { jobsMigrations } from '#infra/jobs/index.ts'
import { openVault } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { FakeAuthority } from './fake-authority.ts'
import { jobsLab } from './jobs-lab.ts'

/** The one name of a lab that is not given others. */
export const certifiedName = 'alice.example.org'

const vault = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 1)) })

/** Inside a suite of `eachDialect`: the processes of a server that gets its certificates from a fake authority. */
export function certificatesLab(open: OpenTestDatabase) {
  const openLab = jobsLab(open, [
    ...jobsMigrations,
    ...certificatesMigrations,
    ...certificateAuthorityMigrations,
  ])

  async function lab(names: readonly string[] = [certifiedName]) {
    const made = await openLab()
    const authority = new FakeAuthority(made.clock)
    const wanted = new Set(names)
    const told: string[][] = []
    const leads = new Map<string, 'here' | 'elsewhere' | 'unknown'>()
    const addProcess = async (nodeId: string, directoryUrl = authority.directoryUrl) => {
      const node = made.addNode(nodeId)
      const certification = openCertification({
        ...made,
        vault,
        logger: silentLogger,
        jobs: node.jobs,
        egress: authority,
        directoryUrl,
        email: 'admin@example.org',
        challenge: 'http-01',
        listNames: async () => wanted,
        zoneOf: async (one) => one.split('.').slice(-2).join('.'),
        whereLeads: async (one) => leads.get(one) ?? 'here',
        tellAdmin: async (_, states) => void told.push(states.map((state) => state.name)),
        onIssued: () => undefined,
      })
      await node.jobs.start()
      return { ...node, certification }
    }
    const first = await addProcess('first')
    const reader = made.db.reader(serverTenant)
    return {
      ...made,
      authority,
      wanted,
      told,
      leads,
      first,
      addProcess,
      reader,
      state: (one = certifiedName) => findState(reader, one),
      look: () =>
        made.db.transact(serverTenant, (tx) => noteNameChange({ jobs: first.jobs, isOn: true }, tx)),
    }
  }

  /** Lets time pass and jobs run, by steps. */
  async function pass(
    { clock, first }: Pick<CertificatesLab, 'clock' | 'first'>,
    ms: number,
    steps = 10,
  ): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      clock.advance(ms / steps)
      await first.jobs.settle()
    }
  }

  async function begun(names?: readonly string[]): Promise<CertificatesLab> {
    const made = await lab(names)
    await made.look()
    await made.first.jobs.settle()
    return made
  }

  return { lab, pass, begun }
}

export type CertificatesLab = Awaited<ReturnType<ReturnType<typeof certificatesLab>['lab']>>
