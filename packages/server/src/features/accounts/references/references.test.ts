import { fileIdOf, parseRefId, type RefId } from '@kith/protocol'
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { appointAdmin } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'
import { makeReference } from './make-reference.ts'
import { newRefId } from './reference.ts'

const fileId = fileIdOf('BLOB', 'A'.repeat(43))
const homeTag = 'home.example.com'
const recoveryTypes = ['welcome', 'password-reset', 'email-verify'] as const

async function start(site: SignInSite) {
  site.world.fileAccess.set(`${site.alice.idTag} ${fileId}`, 'write')
  return { site, token: await site.login(site.alice), admin: await site.login(site.base) }
}

const create = (site: SignInSite, token: string | undefined, body: object = {}, host?: string) =>
  site.ask('POST', '/api/refs', {
    token,
    body: { type: 'share.file', resourceId: fileId, ...body },
    ...(host === undefined ? {} : { host }),
  })

async function share(site: SignInSite, token: string, body: object = {}): Promise<RefId> {
  return (await create(site, token, body)).json.data.refId
}

const exchange = (site: SignInSite, query: string, token?: string) =>
  site.ask('GET', `/api/auth/access-token?${query}`, { token })

const list = (site: SignInSite, token: string, query = '', host?: string) =>
  site.ask('GET', `/api/refs${query}`, { token, ...(host === undefined ? {} : { host }) })

test('an id has 24 characters that are hard to guess', () => {
  const ids = Array.from({ length: 200 }, newRefId)
  for (const id of ids) expect(parseRefId(id)).toBe(id)
  expect(new Set(ids).size).toBe(200)
  expect(new Set(ids.join('')).size).toBe(62)
})

eachDialect('a reference', (open) => {
  test('has a label that is seen, composed and without blanks around it', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const labelled = async (description: string) => (await create(site, token, { description })).json
    expect((await labelled('  For Zoe\u0308 ')).data.description).toBe('For Zoë')
    expect((await labelled(' ')).data.description).toBeUndefined()
    for (const description of ['\u200b', 'gpj.\u202eexe', 'a\nb'])
      expect((await labelled(description)).error?.details.issues[0].path).toBe('/description')
  })

  test('is made, listed, read and deleted by its maker', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const made = await create(site, token, {
      description: 'For Bob',
      expiresAt: 1_900_000_000,
      accessLevel: 'write',
    })
    expect(made.status).toBe(201)
    expect(made.json.data).toEqual({
      refId: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
      type: 'share.file',
      description: 'For Bob',
      createdAt: Math.floor(site.clock.now() / 1000),
      expiresAt: 1_900_000_000,
      count: 1,
      resourceId: fileId,
      accessLevel: 'write',
    })
    const { refId } = made.json.data
    const page = await list(site, token)
    expect(page.json).toMatchObject({
      data: [made.json.data],
      pagination: { total: 1, offset: 0, limit: 20, hasMore: false },
    })
    expect((await site.ask('GET', `/api/refs/${refId}`, { token })).json.data).toEqual({
      ...made.json.data,
      state: 'active',
    })
    expect((await site.ask('GET', `/api/refs/${refId}`)).json.data).toEqual({
      refId,
      type: 'share.file',
      state: 'active',
    })
    expect((await site.ask('DELETE', `/api/refs/${refId}`, { token })).json.data).toBeNull()
    refused(await site.ask('GET', `/api/refs/${refId}`, { token }), 404, 'E-NOTFOUND')
    refused(await site.ask('DELETE', `/api/refs/${refId}`, { token }), 404, 'E-NOTFOUND')
  })

  test('for one use is used by exactly one of a hundred at once', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token)
    const answers = await Promise.all(Array.from({ length: 100 }, () => exchange(site, `ref=${refId}`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers) if (answer.status !== 200) refused(answer, 410, 'E-GONE')
    const { json } = await site.ask('GET', `/api/refs/${refId}`, { token })
    expect(json.data.count).toBe(0)
  })

  test('tells who has it whether it is good, and is not used up by that', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const stateOf = async (refId: RefId) => (await site.ask('GET', `/api/refs/${refId}`)).json.data.state
    const refId = await share(site, token, { count: 1, expiresAt: Math.floor(site.clock.now() / 1000) + 60 })
    for (let look = 0; look < 3; look += 1) expect(await stateOf(refId)).toBe('active')
    await exchange(site, `ref=${refId}`)
    expect(await stateOf(refId)).toBe('used')
    const other = await share(site, token, { expiresAt: Math.floor(site.clock.now() / 1000) + 60 })
    site.clock.advance(60_000)
    expect(await stateOf(other)).toBe('expired')
  })

  test('that invites is told of on every host of the server, and no other is', async () => {
    const { site, token, admin } = await start(await openSignInSite(open))
    const made = await create(site, admin, { type: 'invite', resourceId: undefined }, homeTag)
    const { refId } = made.json.data
    const host = 'bob.example.com'
    const { json } = await site.ask('GET', `/api/refs/${refId}`, { host })
    expect(json.data).toEqual({ refId, type: 'invite', state: 'active' })
    refused(await site.ask('GET', `/api/refs/${await share(site, token)}`, { host }), 404, 'E-NOTFOUND')
  })

  test('is found in the list by its state, type and resource', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const soon = Math.floor(site.clock.now() / 1000) + 10
    const active = await share(site, token, { count: null })
    const used = await share(site, token)
    await exchange(site, `refId=${used}`)
    const expired = await share(site, token, { expiresAt: soon, count: 5 })
    site.clock.advance(10_000)
    const idsOf = async (query: string) =>
      (await list(site, token, query)).json.data.map(({ refId }: { refId: RefId }) => refId).sort()
    expect(await idsOf('')).toEqual([active])
    expect(await idsOf('?filter=used')).toEqual([used])
    expect(await idsOf('?filter=expired')).toEqual([expired])
    expect(await idsOf('?filter=all')).toEqual([active, used, expired].sort())
    expect(await idsOf('?filter=all&type=invite')).toEqual([])
    expect(await idsOf(`?resourceId=${fileId}`)).toEqual([active])
    expect(await idsOf('?resourceId=other')).toEqual([])
    const page = await list(site, token, '?filter=all&_limit=2&_offset=2')
    expect(page.json.pagination).toEqual({ total: 3, offset: 2, limit: 2, hasMore: false })
    expect(page.json.data).toHaveLength(1)
  })
})

eachDialect('a reference', (open) => {
  test('to a file needs write access to it', async () => {
    const { site, token } = await start(await openSignInSite(open))
    refused(await create(site, token, { resourceId: undefined }), 400, 'E-VALIDATION')
    refused(await create(site, token, { resourceId: 'x' }), 404, 'E-FILE-NOTFOUND')
    const other = fileIdOf('BLOB', `B${'A'.repeat(42)}`)
    refused(await create(site, token, { resourceId: other }), 404, 'E-FILE-NOTFOUND')
    site.world.fileAccess.set(`${site.alice.idTag} ${other}`, 'read')
    refused(await create(site, token, { resourceId: other }), 403, 'E-AUTH-FORBIDDEN')
  })

  test('of another type is an administrator’s to make', async () => {
    const { site, token, admin } = await start(await openSignInSite(open))
    for (const type of ['invite', ...recoveryTypes]) {
      refused(await create(site, token, { type }), 403, 'E-AUTH-FORBIDDEN')
      expect((await create(site, admin, { type }, homeTag)).status).toBe(201)
    }
    expect((await list(site, admin, '?type=invite', homeTag)).json.data).toHaveLength(1)
  })

  test('that recovers the account is the owner’s alone to make, and in person', async () => {
    const { site, token, admin } = await start(await openSignInSite(open))
    await site.db.transact(site.base.tenantId, (tx) => appointAdmin(site, tx, site.alice.idTag))
    const visit = await site.ask('GET', `/api/auth/proxy-token?target=${homeTag}`, { token })
    const appointed = visit.json.data.token
    const ask = (asked: object) => ({ host: homeTag, token: admin, ...asked })
    const made = await site.ask('POST', '/api/auth/api-keys', ask({ body: { name: 'ci' } }))
    const narrow = await site.ask('GET', '/api/auth/access-token?scope=admin', ask({}))
    expect((await create(site, appointed, { type: 'invite' }, homeTag)).status).toBe(201)
    refused(await create(site, made.json.data.key, { type: 'invite' }, homeTag), 403, 'E-AUTH-FORBIDDEN')
    for (const type of recoveryTypes) {
      for (const bearer of [appointed, made.json.data.key, narrow.json.data.token])
        refused(await create(site, bearer, { type }, homeTag), 403, 'E-AUTH-FORBIDDEN')
      expect((await create(site, admin, { type }, homeTag)).status).toBe(201)
    }
    site.clock.advance(15 * 60_000 + 1_000)
    const late = await create(site, admin, { type: 'password-reset' }, homeTag)
    refused(late, 403, 'E-AUTH-FORBIDDEN')
    expect(late.json.error.details).toEqual({ reason: 'sign-in-again' })
  })

  test('that recovers the account serves once, and not for long', async () => {
    const { site, admin } = await start(await openSignInSite(open))
    const now = Math.floor(site.clock.now() / 1000)
    for (const [type, lifeSecs] of [
      ['password-reset', 86_400],
      ['email-verify', 86_400],
      ['welcome', 30 * 86_400],
    ] as const) {
      const asked = (body: object) => create(site, admin, { type, ...body }, homeTag)
      expect((await asked({})).json.data).toMatchObject({ count: 1, expiresAt: now + lifeSecs })
      expect((await asked({ expiresAt: now + 60 })).json.data.expiresAt).toBe(now + 60)
      for (const bad of [{ expiresAt: now + lifeSecs + 1 }, { count: null }, { count: 2 }])
        refused(await asked(bad), 400, 'E-VALIDATION')
    }
  })

  test('that recovers the account is shown by no list, and its id tells no more than it is', async () => {
    const { site, admin } = await start(await openSignInSite(open))
    const ids = await site.db.transact(site.base.tenantId, (tx) =>
      Promise.all(
        [...recoveryTypes, 'idp-activate' as const].map((type) => makeReference(site.deps, tx, { type })),
      ),
    )
    const { json } = await create(site, admin, { type: 'password-reset' }, homeTag)
    expect((await list(site, admin, '?filter=all', homeTag)).json.pagination.total).toBe(0)
    for (const { refId, type } of [...ids, json.data]) {
      const { json: page } = await list(site, admin, `?filter=all&type=${type}`, homeTag)
      expect(page).toMatchObject({ data: [], pagination: { total: 0 } })
      const shown = await site.ask('GET', `/api/refs/${refId}`, { host: homeTag, token: admin })
      expect(shown.json.data).toEqual({ refId, type, state: 'active' })
    }
  })

  test('that activates an identity is shown to whom it was made for, and not to their programs', async () => {
    const { site, token, admin } = await start(await openSignInSite(open))
    const { refId } = await site.db.transact(site.base.tenantId, (tx) =>
      makeReference(site.deps, tx, { type: 'idp-activate', createdBy: site.alice.idTag }),
    )
    const visit = async (bearer: string) =>
      (await site.ask('GET', `/api/auth/proxy-token?target=${homeTag}`, { token: bearer })).json.data.token
    const made = await site.ask('POST', '/api/auth/api-keys', { token, body: { name: 'ci' } })
    expect((await list(site, await visit(token), '', homeTag)).json.data).toMatchObject([{ refId }])
    for (const bearer of [admin, await visit(made.json.data.key)])
      expect((await list(site, bearer, '', homeTag)).json.data).toEqual([])
  })

  test('is refused with a bad type, end or count, without a token and with a narrow one', async () => {
    const { site, token } = await start(await openSignInSite(open))
    for (const bad of [
      { type: 'other' },
      { expiresAt: 1 },
      { expiresAt: 1_900_000_000_000 },
      { count: 0 },
      { count: -1 },
    ])
      refused(await create(site, token, bad), 400, 'E-VALIDATION')
    refused(await create(site, undefined), 401, 'E-AUTH-UNAUTH')
    const narrow = (await exchange(site, 'scope=write', token)).json.data.token
    refused(await create(site, narrow), 403, 'E-AUTH-FORBIDDEN')
    const admin = (await exchange(site, 'scope=admin:refs', token)).json.data.token
    expect((await create(site, admin)).status).toBe(201)
  })

  test('is shown only with full rights or those to administer references', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token)
    for (const scope of ['read', 'write', 'read:refs', 'write:refs', 'admin:files', 'admin:keys']) {
      const narrow = (await exchange(site, `scope=${scope}`, token)).json.data.token
      refused(await list(site, narrow), 403, 'E-AUTH-FORBIDDEN')
      const { data } = (await site.ask('GET', `/api/refs/${refId}`, { token: narrow })).json
      expect(data).toEqual({ refId, type: 'share.file', state: 'active' })
      refused(await site.ask('DELETE', `/api/refs/${refId}`, { token: narrow }), 403, 'E-AUTH-FORBIDDEN')
    }
    for (const scope of ['admin', 'admin:refs']) {
      const wide = (await exchange(site, `scope=${scope}`, token)).json.data.token
      expect((await list(site, wide)).json.data).toMatchObject([{ refId }])
    }
  })

  test('ignores what only the server sets', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const forged = { refId: 'A'.repeat(24), createdAt: 1, createdBy: 'bob.example.com', tenantId: 1 }
    const { json } = await create(site, token, forged)
    expect(json.data.refId).not.toBe(forged.refId)
    expect(json.data.createdAt).toBe(Math.floor(site.clock.now() / 1000))
  })

  test('of somebody else is neither listed, shown in full nor deleted', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token)
    const proxy = await site.ask('GET', '/api/auth/proxy-token?target=alice.example.com', {
      host: 'bob.example.com',
      token: await site.login(site.bob),
    })
    const visitor = proxy.json.data.token
    expect((await list(site, visitor)).json.data).toEqual([])
    expect((await site.ask('GET', `/api/refs/${refId}`, { token: visitor })).json.data).toEqual({
      refId,
      type: 'share.file',
      state: 'active',
    })
    refused(await site.ask('DELETE', `/api/refs/${refId}`, { token: visitor }), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('GET', `/api/refs/${refId}`, { host: 'bob.example.com' }), 404, 'E-NOTFOUND')
    refused(await site.ask('GET', '/api/refs/short'), 404, 'E-NOTFOUND')
  })

  test('is not to be read from the database', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token)
    const tables = site.db
      .reader(site.alice.tenantId)
      .tables<{ refs: Record<string, unknown>; sessions: Record<string, unknown> }>()
    await exchange(site, `ref=${refId}`)
    const rows = [
      ...(await tables.selectFrom('refs').selectAll().execute()),
      ...(await tables.selectFrom('sessions').selectAll().execute()),
    ]
    const texts = rows
      .flatMap((row) => Object.values(row as object))
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
    expect(texts.some((text) => text.includes(refId))).toBe(false)
  })
})

eachDialect('a guest with a reference', (open) => {
  test('gets a token for its one file, a day long at most', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const now = Math.floor(site.clock.now() / 1000)
    const refId = await share(site, token, { accessLevel: 'write', count: null })
    const { status, json } = await exchange(site, `ref=${refId}`)
    expect(status).toBe(200)
    expect(json.data).toEqual({
      token: expect.any(String),
      expiresAt: now + 86_400,
      accessLevel: 'write',
      resourceId: fileId,
    })
    const claims = decodeJwt(json.data.token)
    expect(claims).toMatchObject({
      iss: 'alice.example.com',
      use: 'ref',
      scope: `file:${fileId}:write`,
      roles: [],
    })
    expect(claims).not.toHaveProperty('sub')
    const short = await share(site, token, { expiresAt: now + 60 })
    expect((await exchange(site, `ref=${short}`)).json.data).toMatchObject({
      expiresAt: now + 60,
      accessLevel: 'read',
    })
  })

  test('gets nothing else with it', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const guest = (await exchange(site, `ref=${await share(site, token)}`)).json.data.token
    for (const path of [
      '/api/auth/sessions',
      '/api/auth/login-token',
      '/api/auth/api-keys',
      '/api/refs',
      '/api/audit',
    ])
      refused(await site.ask('GET', path, { token: guest }), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('POST', '/api/auth/logout', { token: guest }), 403, 'E-AUTH-FORBIDDEN')
    refused(await exchange(site, 'scope=read:actions', guest), 403, 'E-AUTH-FORBIDDEN')
    refused(
      await site.ask('GET', '/api/auth/access-token', { token: guest, host: 'bob.example.com' }),
      401,
      'E-AUTH-UNAUTH',
    )
  })

  test('renews without using the reference up, with a token that came from it', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token)
    const guest = (await exchange(site, `ref=${refId}`)).json.data.token
    site.clock.advance(3_600_000)
    const renewed = await exchange(site, `ref=${refId}&refresh=true`, guest)
    expect(renewed.json.data).toMatchObject({ accessLevel: 'read', resourceId: fileId })
    expect(renewed.json.data.expiresAt).toBe(Math.floor(site.clock.now() / 1000) + 86_400)
    refused(await exchange(site, `ref=${refId}&refresh=true`), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, `ref=${refId}&refresh=true`, token), 401, 'E-AUTH-UNAUTH')
    const other = await share(site, token)
    refused(await exchange(site, `ref=${other}&refresh=true`, guest), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, `ref=${refId}`, guest), 410, 'E-GONE')
  })

  test('is out at once when the reference is deleted or its maker may no longer give', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token, { count: null })
    const guests = [await exchange(site, `ref=${refId}`), await exchange(site, `ref=${refId}`)]
    site.world.fileAccess.set(`${site.alice.idTag} ${fileId}`, 'read')
    refused(await exchange(site, `ref=${refId}`), 410, 'E-GONE')
    site.world.fileAccess.delete(`${site.alice.idTag} ${fileId}`)
    refused(await exchange(site, `ref=${refId}`), 410, 'E-GONE')
    await site.ask('DELETE', `/api/refs/${refId}`, { token })
    for (const { json } of guests) refused(await exchange(site, '', json.data.token), 401, 'E-AUTH-UNAUTH')
    refused(await exchange(site, `ref=${refId}`), 404, 'E-NOTFOUND')
  })

  test('gets nothing while the maker of the reference may only read', async () => {
    const { site, token } = await start(await openSignInSite(open))
    for (const accessLevel of ['read', 'write'] as const) {
      site.world.fileAccess.set(`${site.alice.idTag} ${fileId}`, 'write')
      const refId = await share(site, token, { accessLevel, count: null })
      const guest = (await exchange(site, `ref=${refId}`)).json.data.token
      site.world.fileAccess.set(`${site.alice.idTag} ${fileId}`, 'read')
      refused(await exchange(site, `ref=${refId}`), 410, 'E-GONE')
      refused(await exchange(site, `ref=${refId}&refresh=true`, guest), 410, 'E-GONE')
    }
  })

  test('gets no token for a reference of another kind, another tenant or none', async () => {
    const { site, token, admin } = await start(await openSignInSite(open))
    const invite = (await create(site, admin, { type: 'invite' }, homeTag)).json.data.refId
    refused(
      await site.ask('GET', `/api/auth/access-token?ref=${invite}`, { host: homeTag }),
      403,
      'E-AUTH-FORBIDDEN',
    )
    const refId = await share(site, token)
    refused(
      await site.ask('GET', `/api/auth/access-token?ref=${refId}`, { host: 'bob.example.com' }),
      404,
      'E-NOTFOUND',
    )
    refused(await exchange(site, `ref=${'A'.repeat(24)}`), 404, 'E-NOTFOUND')
    refused(await exchange(site, 'ref=x'), 404, 'E-NOTFOUND')
    expect((await exchange(site, `ref=${refId}`)).status).toBe(200)
  })

  test('leaves the use of an expired reference uncounted', async () => {
    const { site, token } = await start(await openSignInSite(open))
    const refId = await share(site, token, { expiresAt: Math.floor(site.clock.now() / 1000) + 10 })
    site.clock.advance(10_000)
    refused(await exchange(site, `ref=${refId}`), 410, 'E-GONE')
    expect((await list(site, token, '?filter=expired')).json.data[0].count).toBe(1)
  })
})
