import { createSecretKey, randomBytes } from 'node:crypto'
import { settingDefinitions } from '@kith/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { auditMigrations } from '#features/audit/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { alice, bearer, callers, idTag, jsonBody, type Received, startHttpSite } from '#harness/http-site.ts'
import { TestClock } from '#harness/test-clock.ts'
import { guest, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { openVault } from '#infra/keys/index.ts'
import { openSettings, settingEndpoints, settingsMigrations } from './index.ts'
import { fits } from './setting.ts'
import { putStoredSetting } from './setting-store.ts'

const home: Tenant = { tenantId: 2 as TenantId, idTag: idTag('home.example'), type: 'person' }
const migrations = [...auditMigrations, ...settingsMigrations]

/** Settings behind real HTTP: of Alice, and of the base tenant, on whose host the administrator is one. */
async function openSite(open: OpenTestDatabase) {
  const clock = new TestClock()
  const vault = openVault({ masterKey: createSecretKey(randomBytes(32)) })
  const db = await open({ migrations, clock })
  const settings = openSettings({ db, clock, vault })
  const site = await startHttpSite(
    settingEndpoints({ db, clock, vault, settings, emit: async () => undefined }),
    {
      clock,
      hooks: {
        findTenant: (host) => [alice, home].find((tenant) => tenant.idTag === host),
        authenticate: ({ bearer: name }) => ({ caller: callers[name] ?? guest }),
      },
    },
  )
  onTestFinished(() => site.close())
  const ask = (method: string, name: string, asked: Asked = {}): Promise<Received> => {
    const { as = 'owner', host = as === 'admin' ? home.idTag : alice.idTag } = asked
    const sent = 'body' in asked ? jsonBody(asked.body) : {}
    const headers = { ...sent.headers, ...bearer(as), host }
    const path = name === '' ? '/api/settings' : `/api/settings/${name}`
    return site.send(path, { method, headers, ...(sent.body === undefined ? {} : { body: sent.body }) })
  }
  return { ask, db, clock, vault, settings }
}

interface Asked {
  readonly as?: string
  readonly host?: string
  readonly body?: unknown
}

function outcome({ status, json }: Received) {
  return status < 300 ? json.data : [status, json.error.code]
}

test('every default fits its definition', () => {
  const wrong = Object.entries(settingDefinitions).filter(
    ([name, { default: value }]) => !fits(name as never, value),
  )
  expect(wrong).toEqual([])
})

eachDialect('settings', (open) => {
  test('the tenant’s value wins over the global one, and that over the default', async () => {
    const { ask, settings } = await openSite(open)
    expect(outcome(await ask('GET', 'theme'))).toEqual(['theme', 'default'])
    expect(
      outcome(await ask('PUT', 'theme?scope=global', { as: 'admin', body: { value: 'plain' } })),
    ).toEqual(['theme', 'plain'])
    expect(outcome(await ask('GET', 'theme'))).toEqual(['theme', 'plain'])
    expect(outcome(await ask('PUT', 'theme', { body: { value: 'dark' } }))).toEqual(['theme', 'dark'])
    expect(outcome(await ask('GET', 'theme'))).toEqual(['theme', 'dark'])
    expect(await settings.find(alice.tenantId, 'theme')).toBe('dark')
    expect(await settings.find(home.tenantId, 'theme')).toBe('plain')
    expect(outcome(await ask('DELETE', 'theme'))).toBe('ok')
    expect(outcome(await ask('DELETE', 'theme'))).toBe('ok')
    expect(outcome(await ask('GET', 'theme'))).toEqual(['theme', 'plain'])
    expect(outcome(await ask('DELETE', 'theme?scope=global', { as: 'admin' }))).toBe('ok')
    expect(outcome(await ask('GET', 'theme'))).toEqual(['theme', 'default'])
  })

  test('a body is the value, or an object with the value alone', async () => {
    const { ask } = await openSite(open)
    const values = ['dark', 7, true, null, [1, 'a'], { value: 1, other: 2 }, { a: { b: 'ü"\n\u2028' } }]
    for (const value of values) {
      const wrapped = await ask('PUT', 'ui.thing', { body: { value } })
      expect(outcome(wrapped)).toEqual(['ui.thing', value])
      expect(outcome(await ask('GET', 'ui.thing'))).toEqual(['ui.thing', value])
      expect(outcome(await ask('PUT', 'app.my-app.thing_1', { body: value }))).toEqual([
        'app.my-app.thing_1',
        value,
      ])
      expect(outcome(await ask('GET', 'app.my-app.thing_1'))).toEqual(['app.my-app.thing_1', value])
    }
  })

  test('the list shows what holds, free names too, and no secret', async () => {
    const { ask } = await openSite(open)
    await ask('PUT', 'darkMode', { body: true })
    await ask('PUT', 'ui.columns', { body: { value: [1, 2] } })
    await ask('PUT', 'email.smtp.password', { as: 'admin', body: 'hush' })
    const listed: [string, unknown][] = outcome(await ask('GET', ''))
    const shown = new Map(listed)
    expect(shown.size).toBe(listed.length)
    expect(shown.get('darkMode')).toBe(true)
    expect(shown.get('notify.push.reaction')).toBe(false)
    expect(shown.get('notify.push.follow')).toBe(true)
    expect(shown.get('ui.columns')).toEqual([1, 2])
    expect(shown.get('limits.max_setting_kb')).toBe(16)
    expect(shown.has('email.smtp.host')).toBe(false)
    const ofAdmin = new Map<string, unknown>(outcome(await ask('GET', '', { as: 'admin' })))
    expect(ofAdmin.get('email.smtp.host')).toBe('')
    expect(ofAdmin.has('email.smtp.password')).toBe(false)
    expect(ofAdmin.has('ui.columns')).toBe(false)
  })

  test('a secret is sealed where it lies, and never answered', async () => {
    const { ask, db, settings } = await openSite(open)
    const put = await ask('PUT', 'email.smtp.password', { as: 'admin', body: { value: 'hush hush' } })
    expect(outcome(put)).toEqual(['email.smtp.password', null])
    expect(put.text).not.toContain('hush')
    expect(outcome(await ask('GET', 'email.smtp.password', { as: 'admin' }))).toEqual([
      403,
      'E-AUTH-FORBIDDEN',
    ])
    expect(await settings.find(home.tenantId, 'email.smtp.password')).toBe('hush hush')
    const rows = await db
      .reader(0 as TenantId)
      .tables<{ settings: { tenant_id: number; value: string | null; value_sealed: Uint8Array } }>()
      .selectFrom('settings')
      .select(['value', 'value_sealed'])
      .where('tenant_id', '=', 0)
      .execute()
    expect(rows).toHaveLength(1)
    expect(rows[0]?.value).toBeNull()
    expect(Buffer.from(rows[0]!.value_sealed).includes('hush')).toBe(false)
  })

  test('another process sees a change within five seconds', async () => {
    const { ask, db, clock, vault } = await openSite(open)
    const other = openSettings({ db: await open.again(db, { migrations, clock }), clock, vault })
    expect(await other.find(alice.tenantId, 'language')).toBe('en')
    await ask('PUT', 'language', { body: 'de-AT' })
    clock.advance(5_001)
    expect(await other.find(alice.tenantId, 'language')).toBe('de-AT')
  })

  test('inside a transaction the transaction’s handle is used', async () => {
    const { ask, db, settings } = await openSite(open)
    await ask('PUT', 'profile.default_visibility', { body: 'F' })
    const found = await db.transact(alice.tenantId, (tx) =>
      settings.findWith(tx, 'profile.default_visibility'),
    )
    expect(found).toBe('F')
  })

  test('a stored value that fits its definition no longer is as if it were not there', async () => {
    const { ask, db, settings } = await openSite(open)
    await ask('PUT', 'darkMode', { body: true })
    await db.transact(alice.tenantId, async (tx) => {
      await tx
        .tables<{ settings: { tenant_id: number; value: string } }>()
        .updateTable('settings')
        .set({ value: '"yes"' })
        .where('tenant_id', '=', tx.tenantId)
        .execute()
    })
    settings.forget()
    expect(await settings.find(alice.tenantId, 'darkMode')).toBe(false)
  })

  test('clients keep at most 500 names', async () => {
    const { ask, db } = await openSite(open)
    await db.transact(alice.tenantId, async (tx) => {
      for (let i = 0; i < 500; i += 1)
        await putStoredSetting(tx, { name: `ui.n${i}`, text: `${i}`, isFree: true, now: 0 })
    })
    expect(outcome(await ask('PUT', 'ui.one_more', { body: 1 }))).toEqual([507, 'E-QUOTA'])
    expect(outcome(await ask('PUT', 'ui.n7', { body: 'again' }))).toEqual(['ui.n7', 'again'])
  })

  test('clients keep at most 1 MiB', async () => {
    const { ask, db } = await openSite(open)
    const text = JSON.stringify('x'.repeat(16 * 1024 - 2))
    await db.transact(alice.tenantId, async (tx) => {
      for (let i = 0; i < 64; i += 1)
        await putStoredSetting(tx, { name: `ui.n${i}`, text, isFree: true, now: 0 })
    })
    expect(outcome(await ask('PUT', 'app.a', { body: 1 }))).toEqual([507, 'E-QUOTA'])
    expect(outcome(await ask('PUT', 'ui.n1', { body: 1 }))).toEqual(['ui.n1', 1])
    expect(outcome(await ask('PUT', 'app.a', { body: 1 }))).toEqual(['app.a', 1])
    expect(outcome(await ask('GET', 'app.a', { as: 'admin' }))).toEqual([404, 'E-NOTFOUND'])
  })

  describe('refuses', () => {
    test.each([
      ['GET', 'unknown', {}, 404, 'E-NOTFOUND'],
      ['PUT', 'unknown', { body: 1 }, 404, 'E-NOTFOUND'],
      ['DELETE', 'unknown', {}, 404, 'E-NOTFOUND'],
      ['GET', 'ui.unset', {}, 404, 'E-NOTFOUND'],
      ['DELETE', 'ui.unset', {}, 404, 'E-NOTFOUND'],
      ['GET', '__proto__', {}, 404, 'E-NOTFOUND'],
      ['PUT', 'constructor', { body: 1 }, 404, 'E-NOTFOUND'],
      ['PUT', 'ui.', { body: 1 }, 404, 'E-NOTFOUND'],
      ['PUT', 'ui', { body: 1 }, 404, 'E-NOTFOUND'],
      ['PUT', 'ui.a%2Fb', { body: 1 }, 404, 'E-NOTFOUND'],
      ['PUT', `ui.${'a'.repeat(126)}`, { body: 1 }, 400, 'E-VALIDATION'],
      ['PUT', 'darkMode', { body: { value: 'yes' } }, 400, 'E-VALIDATION'],
      ['PUT', 'notify.push.message', { body: 1 }, 400, 'E-VALIDATION'],
      ['PUT', 'theme', { body: { value: null } }, 400, 'E-VALIDATION'],
      ['PUT', 'theme', {}, 400, 'E-VALIDATION'],
      ['PUT', 'profile.default_visibility', { body: 'X' }, 400, 'E-VALIDATION'],
      ['PUT', 'ui.large', { body: 'x'.repeat(16 * 1024) }, 413, 'E-TOOLARGE'],
      ['PUT', 'limits.max_storage_gb', { as: 'admin', body: -1 }, 400, 'E-VALIDATION'],
      ['PUT', 'limits.max_setting_kb', { as: 'admin', body: 17 }, 403, 'E-AUTH-FORBIDDEN'],
      ['DELETE', 'limits.max_setting_kb', { as: 'admin' }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'limits.max_storage_gb', { body: 1000 }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'limits.max_storage_gb?scope=tenant', { body: 1000 }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'limits.max_tenants?scope=tenant', { as: 'admin', body: 5 }, 400, 'E-VALIDATION'],
      ['DELETE', 'limits.max_storage_gb', {}, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'theme?scope=global', { body: 'mine' }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'ui.a?scope=global', { as: 'admin', body: 1 }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'theme?scope=system', { as: 'admin', body: 'mine' }, 400, 'E-VALIDATION'],
      ['GET', 'email.smtp.host', {}, 403, 'E-AUTH-FORBIDDEN'],
      ['GET', '', { as: 'visitor' }, 403, 'E-AUTH-FORBIDDEN'],
      ['GET', 'theme', { as: 'visitor' }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'theme', { as: 'visitor', body: 'theirs' }, 403, 'E-AUTH-FORBIDDEN'],
      ['PUT', 'theme', { as: 'reader', body: 'mine' }, 403, 'E-AUTH-FORBIDDEN'],
      ['GET', 'theme', { as: 'nobody' }, 401, 'E-AUTH-UNAUTH'],
    ] as const)('%s %s %o: %i %s', async (method, name, asked, status, code) => {
      const { ask } = await openSite(open)
      expect(outcome(await ask(method, name, asked))).toEqual([status, code])
    })
  })

  test.each([
    ['theme', 1, 'string'],
    ['limits.max_file_mb', 0, 'number, above 0 and up to 1000000'],
    ['profile.default_visibility', 'X', 'P, V, F, C'],
  ] as const)('says what %s takes', async (name, body, words) => {
    const { ask } = await openSite(open)
    const { json } = await ask('PUT', name, { as: 'admin', body })
    const [issue] = json.error.details.issues
    expect(issue).toEqual({
      path: '/value',
      message: `must be: ${words}. ${settingDefinitions[name].sentence}`,
    })
  })

  test('what an administrator changes stands in the trail, without its value', async () => {
    const { ask, db } = await openSite(open)
    await ask('PUT', 'theme', { body: 'dark' })
    await ask('PUT', 'email.smtp.password', { as: 'admin', body: 'hush hush' })
    await ask('DELETE', 'email.smtp.password', { as: 'admin' })
    const entries = await db
      .reader(home.tenantId)
      .tables<{ audit_log: { tenant_id: number; event: string; details: string } }>()
      .selectFrom('audit_log')
      .select(['tenant_id', 'event', 'details'])
      .where('tenant_id', '>', 0)
      .execute()
    expect(entries.map(({ event, tenant_id }) => [tenant_id, event]).sort()).toEqual([
      [home.tenantId, 'setting.changed'],
      [home.tenantId, 'setting.removed'],
    ])
    expect(JSON.stringify(entries)).not.toContain('hush')
  })
})
