import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  getAuditLog,
  getProxyToken,
  getStatistics,
  type IdTag,
  inviteCommunity,
  login,
  purgeTenant,
  resumeTenant,
  sendPasswordReset,
  suspendTenant,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { purgeTenant as purgeTenantNow } from '#app/purge/purge-tenant.ts'
import { endCommandPurge, noteCommandPurge } from '#features/admin/index.ts'
import { findRelation, statusOf } from '#features/relations/index.ts'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'

const baseTag = 'home.localhost'
const noticedMs = 5_001

let beside: LineBesideServer
let line: CommandLine
let server: TestServer

beforeAll(async () => {
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

const trailOf = async (idTag: string) => (await (await server.as(idTag)).call(getAuditLog, {})).data

describe('a tenant that the server removes', () => {
  test('is neither resumed nor suspended nor purged by a command', async () => {
    const idTag = 'gone.localhost' as IdTag
    await server.createTenant(idTag)
    const admin = await server.as(baseTag)
    await beginByApi(idTag)
    const refused = { exitCode: 1, code: 'E-STATE', message: 'This tenant is being removed.' }
    await expect(admin.call(resumeTenant, { params: { idTag } })).rejects.toMatchObject({ code: 'E-STATE' })
    expect(await line.fails('tenant', 'resume', idTag)).toEqual(refused)
    expect(await line.fails('tenant', 'suspend', idTag)).toEqual(refused)
    expect(await line.fails('tenant', 'purge', idTag, '--yes')).toEqual(refused)
    expect((await line.json('tenant', 'list', idTag)).tenants).toMatchObject([{ status: 'suspended' }])
    server.clock.advance(6_000)
    await server.settle()
    expect((await line.run(['tenant', 'list', idTag])).exitCode).toBe(1)
  })
})

/** Removes a suspended tenant as the command does, and is interrupted before it has removed a blob. */
async function beginByCommand(idTag: IdTag) {
  const { services, features } = server.running
  const tenant = await features.identity.tenants.find(idTag)
  if (tenant?.suspendedAt === undefined) throw new Error(`${idTag} is not suspended`)
  const suspended = { ...tenant, suspendedAt: tenant.suspendedAt }
  const blobs = { removeTenant: () => Promise.reject(new Error('interrupted')) }
  const deps = {
    ...services,
    ...features.identity,
    blobs,
    pause: async () => undefined,
    noteBegun: (tx: Writer) => noteCommandPurge(services, tx, suspended),
    by: 'command line',
  } as const
  await expect(purgeTenantNow(deps, suspended)).rejects.toThrow('interrupted')
}

async function beginByApi(idTag: IdTag) {
  const admin = await server.as(baseTag)
  const { data: asked } = await admin.call(purgeTenant, { params: { idTag } })
  const body = asked.confirm === undefined ? {} : { confirm: asked.confirm }
  await admin.call(purgeTenant, { params: { idTag }, body })
}

describe('a tenant that a command has begun to remove', () => {
  const refused = { exitCode: 1, code: 'E-STATE', message: 'This tenant is being removed.' }
  let isHalf = false

  /** One for all tests that find it so. */
  async function halfRemoved(): Promise<IdTag> {
    const idTag = 'half-removed.localhost' as IdTag
    if (isHalf) return idTag
    isHalf = true
    await server.createTenant('led.localhost', { type: 'community' })
    await server.createTenant(idTag)
    await line.json('tenant', 'role', idTag, 'SADM')
    await server.suspend(idTag)
    await beginByCommand(idTag)
    return idTag
  }

  async function beginPurge(idTag: IdTag) {
    await server.createTenant(idTag)
    await server.suspend(idTag)
    await beginByCommand(idTag)
  }

  test('is not resumed, by nobody, and the same command continues', async () => {
    const idTag = 'half.localhost' as IdTag
    await beginPurge(idTag)
    const admin = await server.as(baseTag)
    await expect(admin.call(resumeTenant, { params: { idTag } })).rejects.toMatchObject({ code: 'E-STATE' })
    await expect(admin.call(purgeTenant, { params: { idTag } })).rejects.toMatchObject({ code: 'E-STATE' })
    expect(await line.fails('tenant', 'resume', idTag)).toMatchObject({ exitCode: 1, code: 'E-STATE' })
    const waitingPurges = async () => {
      const { jobs } = await line.json('jobs', 'list', '--state', 'waiting', '--limit', '1000')
      return jobs.filter(({ kind }: { kind: string }) => kind === 'admin.purge-tenant').length
    }
    expect(await waitingPurges()).toBe(1)
    expect((await line.json('tenant', 'purge', idTag, '--yes')).idTag).toBe(idTag)
    expect((await line.run(['tenant', 'list', idTag])).exitCode).toBe(1)
    expect(await waitingPurges()).toBe(0)
  })

  test.each([
    ['export', 'X', '--to', 'half.tar'],
    ['tenant', 'email', 'X', 'x@example.org'],
    ['tenant', 'password', 'X'],
    ['tenant', 'password', 'X', '--mail'],
    ['tenant', 'password', 'X', '--password', 'one two three'],
    ['tenant', 'role', 'X', 'SADM'],
    ['tenant', 'role', 'X', 'user'],
    ['tenant', 'suspend', 'X'],
    ['tenant', 'leader', 'led.localhost', 'X'],
    ['keys', 'rotate', 'X'],
    ['keys', 'revoke', 'X', 'abc'],
    ['ref', 'create', 'password-reset', '--tenant', 'X'],
    ['settings', 'set', 'limits.max_storage_gb', '50', '--tenant', 'X'],
    ['settings', 'reset', 'limits.max_storage_gb', '--tenant', 'X'],
    ['dns', 'zone', 'X'],
  ])('has nothing done with it by %s %s', async (...words) => {
    const idTag = await halfRemoved()
    const files = await readdir(line.folder)
    const command = words.map((word) =>
      word === 'X' ? idTag : word === 'half.tar' ? `${line.folder}/half.tar` : word,
    )
    expect(await line.fails(...command)).toEqual(refused)
    expect(await readdir(line.folder)).toEqual(files)
  })

  test('has nothing done with it over the API', async () => {
    const idTag = await halfRemoved()
    const admin = await server.as(baseTag)
    const params = { idTag }
    const conflict = { status: 409, code: 'E-STATE', message: refused.message }
    await expect(admin.call(sendPasswordReset, { params })).rejects.toMatchObject(conflict)
    await expect(admin.call(suspendTenant, { params })).rejects.toMatchObject(conflict)
    for (const body of [{ name: 'Half' }, { roles: ['user', 'SADM'] }, { status: 'Trusted' as const }])
      await expect(admin.call(updateAdminProfile, { params, body })).rejects.toMatchObject(conflict)
    const inviting = admin.call(inviteCommunity, { body: { targetIdTag: idTag } })
    await expect(inviting).rejects.toMatchObject(conflict)
  })

  test('is still shown', async () => {
    const idTag = await halfRemoved()
    expect((await line.json('tenant', 'list', idTag)).tenants).toMatchObject([{ underWay: 'removal' }])
    expect((await line.run(['tenant', 'list'])).out).toMatch(/half-removed\.localhost .* removing /)
    const looks = [
      ['settings', 'list'],
      ['settings', 'get', 'limits.max_storage_gb'],
      ['blobs', 'verify'],
    ]
    for (const words of looks) await line.json(...words, '--tenant', idTag)
  })

  test('is removed by the server after an hour', async () => {
    const idTag = 'left.localhost' as IdTag
    await beginPurge(idTag)
    server.clock.advance(3_590_000)
    await server.settle()
    expect((await line.run(['tenant', 'list', idTag])).exitCode).toBe(0)
    server.clock.advance(20_000)
    await server.settle()
    expect((await line.run(['tenant', 'list', idTag])).exitCode).toBe(1)
    const purged = (await trailOf(baseTag)).filter(({ event }) => event === 'tenant.purged')
    expect(purged.map(({ details }) => details)).toContainEqual({ idTag, by: 'command line' })
  })
})

test.each([
  ['the API', beginByApi, 4_000],
  ['a command', beginByCommand, 3_600_000],
])('a ban that ends resumes no tenant that %s has begun to remove', async (by, begin, continuedMs) => {
  const idTag = `banned-by-${by.replace(' ', '-')}.localhost`.toLowerCase() as IdTag
  await server.createTenant(idTag)
  const admin = await server.as(baseTag)
  const banExpiresAt = Math.floor(server.clock.now() / 1000) + 3
  await admin.call(updateAdminProfile, { params: { idTag }, body: { status: 'Banned', banExpiresAt } })
  await begin(idTag)
  server.clock.advance(3_000)
  await server.settle()
  const { tenants } = server.running.features.identity
  expect(await tenants.find(idTag)).toMatchObject({ suspendedAt: expect.any(Number), underWay: 'removal' })
  expect(await findRelation(server.db.reader(serverTenant), idTag)).toMatchObject({ standing: undefined })
  await expect(admin.call(resumeTenant, { params: { idTag } })).rejects.toMatchObject({ code: 'E-STATE' })
  server.clock.advance(continuedMs)
  await server.settle()
  expect(await tenants.find(idTag)).toBeUndefined()
  const purged = (await trailOf(baseTag)).filter(({ event }) => event === 'tenant.purged')
  expect(purged.map(({ details }) => details?.idTag)).toContain(idTag)
})

test.each(['Banned', 'Blocked'] as const)('a command that removes somebody %s keeps that', async (status) => {
  const idTag = `kept-${status}.localhost`.toLowerCase() as IdTag
  await server.createTenant(idTag)
  const admin = await server.as(baseTag)
  await admin.call(updateAdminProfile, { params: { idTag }, body: { status, banReason: 'spam' } })
  await line.json('tenant', 'purge', idTag, '--yes')
  expect(await line.fails('tenant', 'list', idTag)).toMatchObject({ code: 'E-PROFILE-NOTFOUND' })
  const decided = await findRelation(server.db.reader(serverTenant), idTag)
  expect(decided).toMatchObject({ standingReason: 'spam' })
  expect(decided && statusOf(decided)).toBe(status)
})

test('a ban that ends after its tenant is gone ends for the name', async () => {
  const idTag = 'banned-for-a-day.localhost' as IdTag
  await server.createTenant(idTag)
  const admin = await server.as(baseTag)
  const banExpiresAt = Math.floor(server.clock.now() / 1000) + 86_400
  await admin.call(updateAdminProfile, { params: { idTag }, body: { status: 'Banned', banExpiresAt } })
  await beginByApi(idTag)
  server.clock.advance(6_000)
  await server.settle()
  const statusNow = async () => {
    const decided = await findRelation(server.db.reader(serverTenant), idTag)
    return decided && statusOf(decided)
  }
  expect(await statusNow()).toBe('Banned')
  server.clock.advance(86_400_000)
  await server.settle()
  expect(await statusNow()).toBe('Active')
})

test('a removal that is given up after all attempts resumes nobody, and can be begun again', async () => {
  const idTag = 'given-up.localhost' as IdTag
  const { tenantId } = await server.createTenant(idTag)
  await beginByApi(idTag)
  await server.db.transact(serverTenant, (tx) => endCommandPurge(tx, { tenantId }))
  const admin = await server.as(baseTag)
  await expect(admin.call(resumeTenant, { params: { idTag } })).rejects.toMatchObject({ code: 'E-STATE' })
  expect(await line.fails('tenant', 'resume', idTag)).toMatchObject({ code: 'E-STATE' })
  await beginByApi(idTag)
  server.clock.advance(6_000)
  await server.settle()
  expect(await server.running.features.identity.tenants.find(idTag)).toBeUndefined()
})

test('a tenant that is resumed while its purge waits stays whole', async () => {
  const idTag = 'back.localhost' as IdTag
  const tenant = await server.createTenant(idTag)
  await server.suspend(idTag)
  const suspendedAt = Math.floor(server.clock.now() / 1000)
  const { services, features } = server.running
  const pause = async () => void (await line.json('tenant', 'resume', idTag))
  const deps = { ...services, ...features.identity, pause, by: 'command line' } as const
  const purging = purgeTenantNow(deps, { ...tenant, suspendedAt })
  await expect(purging).rejects.toMatchObject({
    code: 'E-STATE',
    message: 'The tenant was resumed meanwhile.',
  })
  server.clock.advance(noticedMs)
  await server.signIn(idTag)
})

test('what commands decide stands in the trail of the base tenant', async () => {
  const idTag = 'dora.localhost'
  await server.createTenant(idTag)
  await line.json('tenant', 'create', 'ada.localhost', '--role', 'SADM')
  await line.json('tenant', 'suspend', idTag)
  await line.json('tenant', 'resume', idTag)
  const entries = (await trailOf(baseTag)).filter(({ event }) => event === 'profile.changed-by-admin')
  const details = entries.map((entry) => entry.details)
  expect(details).toContainEqual({ idTag: 'ada.localhost', roles: ['SADM'], by: 'command line' })
  for (const status of ['Suspended', 'Active'])
    expect(details).toContainEqual({ idTag, status, by: 'command line' })
  expect(entries.filter(({ details }) => details?.by === 'command line')).not.toContainEqual(
    expect.objectContaining({ actorTag: expect.anything() }),
  )
})

test('what commands do to a tenant stands in its trail and in that of the base tenant, without addresses', async () => {
  const idTag = 'nora.localhost'
  const band = 'band.localhost'
  await server.createTenant(band, { type: 'community' })
  const commands = [
    ['tenant.created', idTag, ['tenant', 'create', idTag, '--password', 'nora is my name']],
    ['email.changed', idTag, ['tenant', 'email', idTag, 'nora@example.org']],
    ['password.reset-requested', idTag, ['tenant', 'password', idTag]],
    ['password.reset-requested', idTag, ['tenant', 'password', idTag, '--mail']],
    ['setting.changed', idTag, ['settings', 'set', 'theme', 'dark', '--tenant', idTag]],
    ['setting.removed', idTag, ['settings', 'reset', 'theme', '--tenant', idTag]],
    ['keys.rotated', idTag, ['keys', 'rotate', idTag]],
    ['reference.created', idTag, ['ref', 'create', 'password-reset', '--tenant', idTag]],
    ['member.role-changed', band, ['tenant', 'leader', band, idTag]],
    ['password.set', idTag, ['tenant', 'password', idTag, '--password', 'another word for it']],
    ['tenant.exported', idTag, ['export', idTag, '--to', join(line.folder, 'nora.tar')]],
  ] as const
  for (const [, , words] of commands) await line.json(...words)
  const admin = await server.as(baseTag)
  const { data: trail } = await admin.call(getAuditLog, { query: { limit: 100 } })
  const told = trail.flatMap(({ event, details, ...by }) =>
    details?.tenant !== idTag && details?.tenant !== band
      ? []
      : [{ event, tenant: details.tenant, by: details.by, ...by }],
  )
  for (const one of told) expect(one).not.toHaveProperty('actorTag')
  expect(told.map(({ event, tenant, by }) => [event, tenant, by]).sort()).toEqual(
    commands.map(([event, tenant]) => [event, tenant, 'command line']).sort(),
  )
  expect(JSON.stringify(trail)).not.toContain('nora@example.org')
  const own = await server.client(idTag).call(login, { body: { idTag, password: 'another word for it' } })
  const { data } = await server.client(idTag, own.data.token).call(getAuditLog, { query: { limit: 100 } })
  const noted = data.filter(({ details }) => details?.by === 'command line').map(({ event }) => event)
  expect(noted.sort()).toEqual(
    commands.flatMap(([event, tenant]) => (tenant === idTag ? [event] : [])).sort(),
  )
})

describe('tenant role', () => {
  const statistics = async (idTag: string) => {
    const { data } = await (await server.as(idTag)).call(getProxyToken, {
      query: { target: baseTag as never },
    })
    return server
      .client(baseTag, data.token)
      .call(getStatistics)
      .then(
        () => 'shown',
        ({ status }) => status,
      )
  }

  test('makes an administrator and ends that, which a running server notices', async () => {
    const idTag = 'ann.localhost'
    await server.createTenant(idTag)
    expect(await statistics(idTag)).toBe(403)
    expect(await line.json('tenant', 'role', idTag, 'SADM')).toEqual({ idTag, role: 'SADM' })
    server.clock.advance(noticedMs)
    expect(await statistics(idTag)).toBe('shown')
    expect(await line.run(['tenant', 'role', idTag, 'user'])).toEqual({
      exitCode: 0,
      out: 'ann.localhost does not administer the server.\n',
      err: '',
    })
    server.clock.advance(noticedMs)
    expect(await statistics(idTag)).toBe(403)
  })

  test('leaves the base tenant and communities as they are', async () => {
    await server.createTenant('choir.localhost', { type: 'community' })
    expect(await line.fails('tenant', 'role', 'choir.localhost', 'SADM')).toMatchObject({
      exitCode: 2,
      message: 'A community does not administer the server.',
    })
    expect(await line.fails('tenant', 'role', baseTag, 'user')).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: 'The base tenant administers the server and stays.',
    })
  })

  test.each([
    [['ann.localhost', 'KING'], 2, 'A role is SADM or user'],
    [['ann.localhost'], 2, 'SADM|user is missing'],
    [['nobody.localhost', 'SADM'], 1, 'There is no tenant nobody.localhost on this server.'],
  ])('fails for %j', async (words, exitCode, message) => {
    expect(await line.fails('tenant', 'role', ...words)).toMatchObject({ exitCode, message })
  })
})
