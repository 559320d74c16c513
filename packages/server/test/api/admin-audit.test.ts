import type { Client } from '@kith/client'
import {
  allContracts,
  blockDomain,
  type Contract,
  createAction,
  createProxySite,
  deleteProxySite,
  deleteSetting,
  discardJob,
  getAuditLog,
  inviteCommunity,
  purgeTenant,
  putSetting,
  renewProxySiteCert,
  resumeTenant,
  retryJob,
  sendPasswordReset,
  setStat,
  suspendTenant,
  testEmail,
  unblockDomain,
  updateAdminProfile,
  updateProxySite,
} from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliverJob } from '#features/federation/index.ts'
import { TestServer } from '#harness/test-server.ts'
import { serverTenant } from '#infra/db/index.ts'

const home = 'home.localhost'
const alice = 'alice.localhost'
const secret = 'correct horse battery'

let server: TestServer
let client: Client
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(alice, { email: 'alice@example.org' })
  client = await server.as(home)
})
afterAll(() => server.stop())

/** Two jobs that were given up. */
async function deadJobs(): Promise<number[]> {
  const { jobs, db } = server.running.services
  const inboxUrl = 'https://far.example/inbox'
  return await db.transact(serverTenant, async (tx) => {
    for (const actionId of ['a1~1', 'a1~2'] as never[])
      await jobs.enqueue(tx, deliverJob, { actionId, inboxUrl, recipients: [] }, { groupKey: 'far.example' })
    const rows = await tx
      .tables<{ jobs: { job_id: number; kind: string; state: string } }>()
      .updateTable('jobs')
      .set({ state: 'dead' })
      .where('kind', '=', deliverJob.name)
      .returning('job_id')
      .execute()
    return rows.map((row) => row.job_id)
  })
}

type Step = () => Promise<unknown>

/** Whatever an administrator can change, once each, in an order in which it can be done. */
async function stepsOf(): Promise<Partial<Record<string, readonly Step[]>>> {
  const [retried = 0, discarded = 0] = await deadJobs()
  const params = { idTag: alice as never }
  const { data: post } = await client.call(createAction, { body: { type: 'POST', content: { text: 'Hi' } } })
  const body = { domain: 'wiki.localhost', backendUrl: 'http://127.0.0.1:9' } as const
  let siteId = 0
  let confirm: string | undefined
  const domain = 'spam.example' as never
  const setting = { params: { name: 'email.smtp.password' }, query: { scope: 'global' } } as const
  return {
    inviteCommunity: [() => client.call(inviteCommunity, { body: { targetIdTag: alice as never } })],
    sendPasswordReset: [() => client.call(sendPasswordReset, { params })],
    updateAdminProfile: [() => client.call(updateAdminProfile, { params, body: { name: 'Alice' } })],
    suspendTenant: [() => client.call(suspendTenant, { params })],
    resumeTenant: [() => client.call(resumeTenant, { params })],
    testEmail: [() => client.call(testEmail, { body: { to: 'somebody@example.org' } })],
    retryJob: [() => client.call(retryJob, { params: { jobId: retried } })],
    discardJob: [() => client.call(discardJob, { params: { jobId: discarded } })],
    blockDomain: [() => client.call(blockDomain, { body: { domain, reason: 'Noise' } })],
    unblockDomain: [() => client.call(unblockDomain, { params: { domain } })],
    createProxySite: [async () => ({ siteId } = (await client.call(createProxySite, { body })).data)],
    updateProxySite: [() => client.call(updateProxySite, { params: { siteId }, body: { status: 'D' } })],
    deleteProxySite: [() => client.call(deleteProxySite, { params: { siteId } })],
    setStat: [
      () => client.call(setStat, { params: { actionId: post.actionId as never }, body: { views: 7 } }),
    ],
    putSetting: [() => client.call(putSetting, { ...setting, body: { value: secret } })],
    deleteSetting: [() => client.call(deleteSetting, setting)],
    purgeTenant: [
      async () => ({ confirm } = (await client.call(purgeTenant, { params })).data),
      () => client.call(purgeTenant, { params, body: { confirm: confirm ?? '' } }),
    ],
  }
}

const newest = async () =>
  (await client.call(getAuditLog, { query: { limit: 1 } })).data as readonly Record<string, unknown>[]

test('what an administrator changes stands in the trail of the base tenant, with who and from where', async () => {
  const steps = await stepsOf()
  const changing = (allContracts as readonly Contract[]).filter(
    ({ role, orAdmin, method }) => (role === 'SADM' || orAdmin) && method !== 'GET',
  )
  // What needs a certificate authority is tried with one.
  const tried = changing.map(({ name }) => name).filter((name) => name !== renewProxySiteCert.name)
  expect(Object.keys(steps).sort()).toEqual(tried.sort())
  for (const [name, ofOne = []] of Object.entries(steps)) {
    const [before] = await newest()
    for (const step of ofOne) {
      server.clock.advance(1000)
      await step()
    }
    const [entry] = await newest()
    expect(entry, name).not.toEqual(before)
    expect(entry, name).toMatchObject({ actorTag: home, ipAddress: expect.stringMatching(/^127\./) })
  }
  const { data } = await client.call(getAuditLog, { query: { limit: 100 } })
  expect(JSON.stringify(data)).not.toContain(secret)
})
