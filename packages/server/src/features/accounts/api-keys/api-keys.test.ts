import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'

const path = '/api/auth/api-keys'
const create = (site: SignInSite, token: string | undefined, body: object = {}) =>
  site.ask('POST', path, { token, body: { name: 'Backup', ...body } })

eachDialect('an API key', (open) => {
  test('is shown once, used as bearer or exchanged, listed, changed and deleted', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const made = await create(site, token, {
      scope: 'read:files,write:actions',
      expiresAt: '2026-06-01T00:00:00Z',
    })
    expect(made.status).toBe(201)
    const { key, ...view } = made.json.data
    expect(key).toMatch(/^sk_[A-Za-z0-9_-]{43}$/)
    expect(view).toEqual({
      keyId: expect.any(String),
      name: 'Backup',
      prefix: key.slice(0, 8),
      scope: 'read:files,write:actions',
      createdAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2026-06-01T00:00:00.000Z',
    })
    expect((await site.ask('GET', path, { token })).json.data).toEqual([view])
    expect((await site.ask('GET', `${path}/${view.keyId}`, { token })).json.data).toEqual(view)

    const exchanged = await site.ask('GET', `/api/auth/access-token?apiKey=${key}&scope=read`)
    expect(exchanged.json.data).toMatchObject({ scope: 'read:files,read:actions' })
    await site.lastUse.flush()
    const young = (await site.ask('GET', `${path}/${view.keyId}`, { token })).json.data
    expect(young.lastUsedAt).toBe('2026-01-01T00:00:00.000Z')
    site.clock.advance(120_000)
    expect((await site.ask('GET', '/api/auth/access-token', { token: key })).json.data.scope).toBe(
      'read:files,write:actions',
    )
    await site.lastUse.flush()
    const used = (await site.ask('GET', `${path}/${view.keyId}`, { token })).json.data
    expect(used.lastUsedAt).toBe('2026-01-01T00:02:00.000Z')

    const change = { name: 'Nightly', scope: 'read:files' }
    const changed = await site.ask('PATCH', `${path}/${view.keyId}`, { token, body: change })
    expect(changed.json.data).toMatchObject(change)
    const narrowed = await site.ask('GET', '/api/auth/access-token', { token: exchanged.json.data.token })
    expect(narrowed.json.data.scope).toBe('read:files')

    site.clock.advance(14 * 60_000)
    for (const [method, place, body] of [
      ['POST', path, { name: 'Another' }],
      ['PATCH', `${path}/${view.keyId}`, { scope: 'read' }],
    ] as const) {
      const late = await site.ask(method, place, { token, body })
      refused(late, 403, 'E-AUTH-FORBIDDEN')
      expect(late.json.error.details).toEqual({ reason: 'sign-in-again' })
    }
    const renamed = await site.ask('PATCH', `${path}/${view.keyId}`, { token, body: { name: 'Weekly' } })
    expect(renamed.json.data.name).toBe('Weekly')
    expect((await site.ask('DELETE', `${path}/${view.keyId}`, { token })).json.data).toBe('ok')
    for (const dead of [key, exchanged.json.data.token])
      refused(await site.ask('GET', '/api/auth/access-token', { token: dead }), 401, 'E-AUTH-UNAUTH')
    expect((await site.ask('GET', path, { token })).json.data).toEqual([])
    refused(await site.ask('DELETE', `${path}/${view.keyId}`, { token }), 404, 'E-NOTFOUND')
    refused(await site.ask('PATCH', `${path}/${view.keyId}`, { token, body: {} }), 404, 'E-NOTFOUND')
    refused(await site.ask('GET', `${path}/${view.keyId}`, { token }), 404, 'E-NOTFOUND')
  })
})

eachDialect('an API key', (open) => {
  test('ends when it says, on its own and in the tokens made from it', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const soon = Math.floor(site.clock.now() / 1000) + 600
    const { key } = (await create(site, token, { expiresAt: soon })).json.data
    const access = (await site.ask('GET', '/api/auth/access-token', { token: key })).json.data
    expect(access.expiresAt).toBe(soon)
    site.clock.advance(600_000)
    for (const dead of [key, access.token])
      refused(await site.ask('GET', '/api/auth/access-token', { token: dead }), 401, 'E-AUTH-UNAUTH')
    expect((await site.ask('GET', path, { token })).json.data).toHaveLength(1)
  })

  test('makes, reads, changes and deletes no keys, sessions or passkeys, however wide it is', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { key, keyId } = (await create(site, token)).json.data
    const fromKey = (await site.ask('GET', `/api/auth/access-token?apiKey=${key}`)).json.data.token
    for (const bearer of [key, fromKey]) {
      refused(await create(site, bearer), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('GET', path, { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('GET', `${path}/${keyId}`, { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
      const widen = { token: bearer, body: { scope: 'admin' } }
      refused(await site.ask('PATCH', `${path}/${keyId}`, widen), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('DELETE', `${path}/${keyId}`, { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('GET', '/api/auth/wa/reg', { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('GET', '/api/auth/login-token', { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
      refused(await site.ask('POST', '/api/auth/logout', { token: bearer }), 403, 'E-AUTH-FORBIDDEN')
    }
    expect((await site.ask('GET', '/api/auth/access-token', { token: key })).status).toBe(200)
  })

  test('is made and changed by an unscoped token alone, and managed by one that says so', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { keyId } = (await create(site, token)).json.data
    for (const [scope, mayManage] of [
      ['admin', true],
      ['admin:keys,read:files', true],
      ['read:keys,write:keys,write', false],
    ] as const) {
      const narrow = (await site.ask('GET', `/api/auth/access-token?scope=${scope}`, { token })).json.data
        .token
      refused(await create(site, narrow, { scope: 'read:files' }), 403, 'E-AUTH-FORBIDDEN')
      const change = { token: narrow, body: { name: 'Mine' } }
      refused(await site.ask('PATCH', `${path}/${keyId}`, change), 403, 'E-AUTH-FORBIDDEN')
      for (const each of [path, `${path}/${keyId}`])
        expect((await site.ask('GET', each, { token: narrow })).status).toBe(mayManage ? 200 : 403)
    }
  })

  test('is refused with a bad name, scope or end, without a token and with a narrow one', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const bad = [
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: ' ' },
      { name: 'a\u0007b' },
      { name: '\u200b' },
      { scope: 'everything' },
      { scope: '' },
      { expiresAt: 1 },
    ]
    for (const body of bad) refused(await create(site, token, body), 400, 'E-VALIDATION')
    const { keyId } = (await create(site, token, { name: ' CI ' })).json.data
    const renamed = (name: string) => site.ask('PATCH', `${path}/${keyId}`, { token, body: { name } })
    refused(await renamed('\u202eCI'), 400, 'E-VALIDATION')
    expect((await renamed(' Night CI')).json.data.name).toBe('Night CI')
    refused(await create(site, undefined), 401, 'E-AUTH-UNAUTH')
    const narrow = (await site.ask('GET', '/api/auth/access-token?scope=write', { token })).json.data.token
    refused(await create(site, narrow), 403, 'E-AUTH-FORBIDDEN')
    refused(await site.ask('GET', path, { token: narrow }), 403, 'E-AUTH-FORBIDDEN')
  })

  test('is nothing on another tenant’s host', async () => {
    const site = await openSignInSite(open)
    const { key, keyId } = (await create(site, await site.login(site.alice))).json.data
    const host = 'bob.example.com'
    refused(await site.ask('GET', '/api/auth/access-token', { host, token: key }), 401, 'E-AUTH-UNAUTH')
    const token = await site.login(site.bob)
    refused(await site.ask('GET', `${path}/${keyId}`, { host, token }), 404, 'E-NOTFOUND')
    refused(await site.ask('DELETE', `${path}/${keyId}`, { host, token }), 404, 'E-NOTFOUND')
  })

  test('is kept as a hash, and named in the audit trail without its secret', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    const { key } = (await create(site, token)).json.data
    const tables = site.db.reader(site.alice.tenantId).tables<{ sessions: object; audit_log: object }>()
    const rows = [
      await tables.selectFrom('sessions').selectAll().execute(),
      await tables.selectFrom('audit_log').selectAll().execute(),
    ]
    expect(JSON.stringify(rows)).not.toContain(key.slice(8))
    expect(JSON.stringify(rows)).toContain('api-key.created')
  })
})
