import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cookieOf, startBrowser, useBrowserCookie } from '#harness/browser-cookie.ts'
import { eachDialect, onSqlite } from '#harness/each-dialect.ts'
import { runsOf } from '#harness/property-runs.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'

// Who uses the cookie that they have, the owner or a thief who copied it. `lost`: the answer does not arrive. `first`: the cookie that
// was copied is shown, whatever came since. Times pass for both.
type Step = 'owner' | 'owner lost' | 'thief' | 'thief lost' | 'thief first' | '20 s' | '31 s' | 'clock back'

const seconds: Partial<Record<Step, number>> = { '20 s': 20, '31 s': 31, 'clock back': -3600 }

interface Holder {
  cookie: string
  token?: string
}

/** Two who hold the same cookie, and whether the last of the steps was refused. */
async function hold(site: SignInSite) {
  const { cookie: copied } = await startBrowser(site)
  const holders: Record<string, Holder> = { owner: { cookie: copied }, thief: { cookie: copied } }
  const take = async (step: Step): Promise<number> => {
    const secs = seconds[step]
    if (secs !== undefined) {
      site.clock.advance(secs * 1000)
      return 200
    }
    const [who = '', how] = step.split(' ')
    const holder = holders[who] as Holder
    const answer = await useBrowserCookie(site, how === 'first' ? copied : holder.cookie)
    if (answer.status === 200 && how !== 'lost')
      holders[who] = { cookie: cookieOf(answer), token: answer.json.data.token }
    return answer.status
  }
  const isIn = async (who: 'owner' | 'thief') => {
    const token = holders[who]?.token
    return token !== undefined && (await site.ask('GET', '/api/auth/sessions', { token })).status === 200
  }
  return { take, isIn }
}

async function auditedOf(site: SignInSite): Promise<string[]> {
  const { json } = await site.ask('GET', '/api/audit', { token: await site.login(site.alice) })
  return json.data.map(({ event }: { event: string }) => event)
}

const good: readonly (readonly [string, readonly Step[]])[] = [
  ['an answer is lost', ['owner lost', '31 s', 'owner', '31 s', 'owner']],
  ['answers are lost in a row', ['owner lost', '31 s', 'owner lost', '31 s', 'owner lost', '31 s', 'owner']],
  ['an answer is lost and asked for at once', ['owner lost', '20 s', 'owner', '31 s', 'owner']],
  ['the last answer of many is lost', ['owner', 'owner', '31 s', 'owner lost', '31 s', 'owner']],
  ['the clock is set back after a lost answer', ['owner lost', 'clock back', 'owner', '31 s', 'owner']],
  ['the clock is set back', ['owner', 'clock back', 'owner', 'owner']],
]

const stolen: readonly (readonly [string, readonly Step[]])[] = [
  ['the thief first and once more', ['thief', 'thief', '31 s', 'owner']],
  ['the thief first, and again after the owner', ['thief', '31 s', 'owner', 'thief']],
  ['the owner first, and again after the thief', ['owner', '31 s', 'thief', 'owner']],
  ['both in the same half minute, and on', ['thief', 'owner', '31 s', 'thief', '31 s', 'owner', 'thief']],
  ['the copied one after the owner went on', ['thief', '31 s', 'owner', 'owner', '31 s', 'thief first']],
  [
    'the copied one over and over',
    ['thief first', '20 s', 'thief first', '20 s', 'owner', '31 s', 'thief first', 'owner'],
  ],
  [
    'the copied one over and over before the owner',
    ['thief first', '31 s', 'thief first', 'owner', '31 s', 'owner', '31 s', 'thief first'],
  ],
  ['the copied one when the clock was set back', ['owner', 'owner', 'clock back', 'thief first']],
  [
    'after answers that the owner lost',
    ['owner lost', '31 s', 'owner lost', '31 s', 'thief', '31 s', 'owner', '31 s', 'thief'],
  ],
]

eachDialect('a cookie of a browser whose successor may not have arrived', (open) => {
  test.each(good)('stays good where %s', async (_, steps) => {
    const site = await openSignInSite(open)
    const { take, isIn } = await hold(site)
    for (const step of steps) expect(await take(step), step).toBe(200)
    expect(await isIn('owner')).toBe(true)
    expect(await auditedOf(site)).not.toContain('browser-session.reused')
  })

  test.each(stolen)('ends its session where two use it: %s', async (_, steps) => {
    const site = await openSignInSite(open)
    const { take, isIn } = await hold(site)
    for (const step of steps.slice(0, -1)) expect(await take(step), step).toBe(200)
    expect(await take(steps.at(-1) as Step)).toBe(401)
    expect([await isIn('owner'), await isIn('thief')]).toEqual([false, false])
    expect(await auditedOf(site)).toContain('browser-session.reused')
  })

  test('ends what was given out with the answer that was lost, and the session goes on as one device', async () => {
    const site = await openSignInSite(open)
    const { cookie } = await startBrowser(site)
    const lost = (await useBrowserCookie(site, cookie)).json.data.token
    const access = await site.ask('GET', '/api/auth/access-token', { token: lost })
    site.clock.advance(31_000)
    const { token } = (await useBrowserCookie(site, cookie)).json.data
    for (const ended of [lost, access.json.data.token])
      refused(await site.ask('GET', '/api/auth/login-token', { token: ended }), 401, 'E-AUTH-UNAUTH')
    const { json } = await site.ask('GET', '/api/auth/sessions', { token })
    expect(json.data).toMatchObject([{ current: true, method: 'password' }])
    const sid = json.data[0].sid
    const { data } = (await site.ask('GET', '/api/audit', { token })).json
    expect(data[0]).toMatchObject({ event: 'browser-session.repeated', details: { sid } })
    expect(data[0].details.former).not.toBe(sid)
  })
})

onSqlite('a cookie of a browser that two hold', (open) => {
  const step = fc.constantFrom<Step>('owner', 'owner lost', 'thief', 'thief lost', 'thief first')
  // Within half a minute two tabs of one browser look the same.
  test('never lets both go on for longer than half a minute after both have used it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        const site = await openSignInSite(open)
        const { take, isIn } = await hold(site)
        for (const one of steps) {
          await take(one)
          site.clock.advance(31_000)
          expect([await isIn('owner'), await isIn('thief')]).not.toEqual([true, true])
        }
      }),
      { numRuns: runsOf(15) },
    )
  })
})
