import {
  createAction,
  discardJob,
  getStatistics,
  getStorage,
  listAdminJobs,
  listTenants,
  retryJob,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { version } from '#app/version.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'

let network: TestNetwork
let people: Record<'alice' | 'bob', Person>
beforeAll(async () => {
  network = await TestNetwork.start(2)
  people = await network.cast('alice', 'bob')
})
afterAll(() => network[Symbol.asyncDispose]())

const admin = () => network.server(0).as(network.server(0).baseIdTag)
const failed = async () => (await (await admin()).call(listAdminJobs, {})).data

/** A follow of somebody whose server cannot be reached for a week. */
async function failToFollow(): Promise<void> {
  const { alice, bob } = people
  await network.takeDown(1)
  await alice.client.call(createAction, { body: { type: 'FLLW', audienceTag: bob.idTag } })
  await network.settle()
  for (let day = 0; day < 9; day += 1) {
    network.clock.advance(86_400_000)
    await network.settle()
  }
}

test('jobs that were given up are listed without what they were to do, tried again and forgotten', async () => {
  await failToFollow()
  const jobs = await failed()
  expect(jobs).toEqual([
    {
      jobId: expect.any(Number),
      kind: 'outbox.find-inbox',
      tenant: people.alice.idTag,
      attempts: expect.any(Number),
      lastError: expect.any(String),
      createdAt: expect.any(String),
      lastAttemptAt: expect.any(String),
    },
  ])
  const { jobs: counted } = (await (await admin()).call(getStatistics)).data
  expect(counted.find(({ kind }) => kind === 'outbox.find-inbox')).toMatchObject({ failed: 1 })

  const query = { state: 'waiting', limit: 100 } as const
  const waiting = (await (await admin()).call(listAdminJobs, { query })).data
  expect(waiting.map(({ jobId }) => jobId)).not.toContain(jobs[0]?.jobId)
  expect(waiting.find(({ kind }) => kind === 'jobs.clean')).toMatchObject({
    nextAttemptAt: expect.any(String),
  })

  await network.bringBack(1)
  const params = { jobId: jobs[0]?.jobId ?? 0 }
  await (await admin()).call(retryJob, { params })
  await network.settle()
  expect(await failed()).toEqual([])
  const client = await admin()
  for (const contract of [retryJob, discardJob])
    await expect(client.call(contract, { params })).rejects.toMatchObject({ status: 404, code: 'E-NOTFOUND' })
})

test('what the server stores is counted, and by whom', async () => {
  const { alice } = people
  const body = new Blob(['x'.repeat(1000)])
  const owner = await network.server(0).as(alice.idTag)
  await owner.upload(uploadFile, { params: { preset: 'raw', fileName: 'x.txt' }, body })
  const client = await admin()
  const { data: storage } = await client.call(getStorage)
  expect(storage).toMatchObject({ usedBytes: 1000, files: 1, freeBytes: expect.any(Number) })
  expect(storage.largest.map(({ idTag, usedBytes }) => [idTag, usedBytes])).toEqual([[alice.idTag, 1000]])
  const { data } = await client.call(getStatistics)
  expect(data).toMatchObject({
    version,
    tenants: { active: 2, suspended: 0 },
    storage: { usedBytes: 1000, files: 1 },
  })
  await network.server(0).suspend(alice.idTag)
  expect((await client.call(getStatistics)).data.tenants).toEqual({ active: 1, suspended: 1 })
  await network.server(0).resume(alice.idTag)
})

test('only administrators see any of it', async () => {
  const { alice } = people
  const own = await network.server(0).as(alice.idTag)
  const params = { params: { jobId: 1 } }
  await expect(own.call(listAdminJobs, {})).rejects.toMatchObject({ status: 403 })
  await expect(own.call(getStatistics)).rejects.toMatchObject({ status: 403 })
  await expect(own.call(getStorage)).rejects.toMatchObject({ status: 403 })
  await expect(own.call(retryJob, params)).rejects.toMatchObject({ status: 403 })
  await expect(own.call(discardJob, params)).rejects.toMatchObject({ status: 403 })
  expect((await (await admin()).call(listTenants, {})).data).toHaveLength(2)
})
