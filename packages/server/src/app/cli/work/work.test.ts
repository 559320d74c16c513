import { createAction, getAuditLog, uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliverJob } from '#features/federation/index.ts'
import { closedPort } from '#harness/addresses.ts'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const alice = 'alice.localhost'
const far = 'far.localhost'

let beside: LineBesideServer
let line: CommandLine
let server: TestServer

beforeAll(async () => {
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
  await server.createTenant(alice)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

/** A delivery that fails: nothing listens on its port. */
async function queueDelivery(): Promise<void> {
  const tenant = await server.running.features.identity.tenants.find(alice as never)
  const { jobs, db } = server.running.services
  const body = { type: 'POST', content: { text: 'Hello' } } as const
  const { data } = await (await server.as(alice)).call(createAction, { body })
  const payload = {
    actionId: data.actionId as never,
    inboxUrl: `http://${far}:${closedPort}/api/inbox`,
    recipients: [far as never],
  }
  await db.transact(tenant!.tenantId, (tx) => jobs.enqueue(tx, deliverJob, payload, { groupKey: far }))
}

test('jobs that wait and deliveries by host are shown', async () => {
  const client = await server.as(alice)
  await client.call(createAction, {
    body: { type: 'POST', content: { text: 'later' }, publishAt: 2_000_000_000 },
  })
  await server.settle()
  const waiting = await line.json('jobs', 'list', '--state', 'waiting', '--limit', '1000')
  expect(waiting.isComplete).toBe(true)
  const published = waiting.jobs.filter(({ tenant }: { tenant?: string }) => tenant === alice)
  expect(published).toEqual([
    expect.objectContaining({ attempts: 0, nextAttemptAt: '2033-05-18T03:33:20.000Z' }),
  ])
  expect(JSON.stringify(waiting)).not.toContain('later')
  expect((await line.run(['jobs', 'list'])).out).toBe('No job was given up.\n')
  const { out } = await line.run(['jobs', 'list', '--state', 'waiting', '--limit', '1'])
  expect(out.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^ {2}\d+ +\S+ +\S+ +0 tried +\d{4}-/),
    'There are more: --limit',
  ])
})

test('a job that was given up is listed, tried again by a running server, and forgotten', async () => {
  const queuedAt = new Date(server.clock.now()).toISOString()
  await queueDelivery()
  await server.settle()
  const { hosts } = await line.json('deliveries', '--failing')
  expect(hosts).toEqual([
    { host: far, queued: 1, failures: 1, oldestAt: queuedAt, lastTriedAt: expect.any(String) },
  ])
  expect((await line.run(['deliveries'])).out).toBe(
    `  ${far}  1 waiting  since ${queuedAt}  1 failure in a row\n`,
  )
  for (let day = 0; day < 9; day += 1) {
    server.clock.advance(86_400_000)
    await server.settle()
  }
  const { jobs } = await line.json('jobs', 'list')
  expect(jobs).toEqual([
    expect.objectContaining({ kind: deliverJob.name, tenant: alice, lastError: expect.any(String) }),
  ])
  const id = String(jobs[0].jobId)
  expect((await line.run(['jobs', 'list'])).out).toContain(jobs[0].lastError.slice(0, 20))

  expect(await line.json('jobs', 'retry', id)).toEqual({ jobId: Number(id) })
  expect(await line.fails('jobs', 'retry', id)).toEqual({
    exitCode: 1,
    code: 'E-NOTFOUND',
    message: 'No job of this number was given up.',
  })
  for (let day = 0; day < 9; day += 1) {
    server.clock.advance(86_400_000)
    await server.settle()
  }
  const again = await line.json('jobs', 'list')
  expect(again.jobs).toHaveLength(1)
  const next = String(again.jobs[0].jobId)
  expect(next).not.toBe(id)
  expect(await line.run(['jobs', 'discard', next])).toEqual({
    exitCode: 0,
    out: `The job ${next} is forgotten.\n`,
    err: '',
  })
  expect(await line.json('jobs', 'list')).toEqual({ jobs: [], isComplete: true })
  const { data } = await (await server.as(baseTag)).call(getAuditLog, {})
  expect(
    data.filter(({ event }) => event.startsWith('job.')).map(({ event, details }) => [event, details]),
  ).toEqual([
    ['job.discarded', { jobId: Number(next), by: 'command line' }],
    ['job.retried', { jobId: Number(id), by: 'command line' }],
  ])
})

test('statistics and storage are what the API tells', async () => {
  const client = await server.as(alice)
  const params = { preset: 'raw', fileName: 'x.txt' } as const
  await client.upload(uploadFile, { params, body: new Blob(['x'.repeat(1536)]) })
  const counted = await line.json('stats')
  expect(counted).toMatchObject({
    version: expect.any(String),
    tenants: { active: 2, suspended: 0 },
    storage: { usedBytes: 1536, files: 1 },
  })
  expect(counted.jobs).toContainEqual({ kind: 'jobs.clean', waiting: 0, running: 0, failed: 0 })
  const stats = await line.run(['stats'])
  expect(stats.out).toMatch(/^ {2}storage +1\.5 KiB in 1 file$/m)
  expect(stats.out).toMatch(/^ {2}jobs\.clean +0 waiting +0 running +0 failed$/m)
  const waiting = counted.jobs.filter((job: { waiting: number }) => job.waiting > 0)
  expect(waiting).toEqual([{ kind: 'actions.publish', waiting: 1, running: 0, failed: 0 }])
  const { checks } = await line.json('doctor')
  expect(checks).toContainEqual(
    expect.objectContaining({ check: 'Jobs', message: expect.stringMatching(/^1 wait or run/) }),
  )

  const stored = await line.json('storage')
  expect(stored).toMatchObject({ usedBytes: 1536, files: 1, freeBytes: expect.any(Number) })
  expect(stored.largest).toMatchObject([{ idTag: alice, usedBytes: 1536 }])
  expect((await line.run(['storage'])).out).toMatch(/^ {2}alice\.localhost +1\.5 KiB +1 file$/m)
})

test.each([
  [['jobs', 'list', '--state', 'lost'], '--state is failed or waiting'],
  [['jobs', 'list', '--limit', '0'], '--limit is a whole number from 1 to 1000'],
  [['jobs', 'retry', 'x'], 'ID is a whole number'],
  [['jobs', 'discard'], 'ID is missing'],
  [['deliveries', '--limit', 'many'], '--limit is a whole number'],
  [['stats', 'now'], 'Too many arguments'],
  [['storage', '--all'], 'Unknown option --all'],
])('%j is wrong usage', async (words, message) => {
  expect(await line.fails(...words)).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) })
})
