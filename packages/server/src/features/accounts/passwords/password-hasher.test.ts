import { describe, expect, test } from 'vitest'
import { assertAcceptablePassword } from './password.ts'
import { createPasswordHasher, isUsableHash } from './password-hasher.ts'

const cheap = { memoryKiB: 64, passes: 1 }

describe('a password hash', () => {
  test('is a salted PHC string of argon2id that only its password opens', async () => {
    const passwords = createPasswordHasher(cheap)
    const hash = await passwords.hash('correct horse')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await passwords.hash('correct horse')).not.toBe(hash)
    expect(await passwords.check('correct horse', hash)).toEqual({ isRight: true, isOutdated: false })
    expect(await passwords.check('Correct horse', hash)).toMatchObject({ isRight: false })
  })

  test('of the usual cost needs at least what OWASP asks for', async () => {
    expect(await createPasswordHasher().hash('correct horse')).toContain('$m=19456,t=2,p=1$')
  })

  test('is the same for a password in another Unicode form, and distinct for another NUL tail', async () => {
    const passwords = createPasswordHasher(cheap)
    const hash = await passwords.hash('pássword')
    expect(await passwords.check('pa\u0301ssword', hash)).toMatchObject({ isRight: true })
    const withNul = await passwords.hash('password\0one')
    expect(await passwords.check('password\0two', withNul)).toMatchObject({ isRight: false })
  })

  test('made at another cost still opens and is called outdated', async () => {
    const hash = await createPasswordHasher(cheap).hash('correct horse')
    const dearer = createPasswordHasher({ memoryKiB: 128, passes: 1 })
    expect(await dearer.check('correct horse', hash)).toEqual({ isRight: true, isOutdated: true })
  })

  test('that is missing is never right, and computes all the same', async () => {
    const passwords = createPasswordHasher({ memoryKiB: 65_536, passes: 3 })
    const hash = await passwords.hash('correct horse')
    const withHash = await timed(() => passwords.check('wrong horse', hash))
    const without = await timed(() => passwords.check('wrong horse', undefined))
    expect(without.answer.isRight).toBe(false)
    expect(without.micros).toBeGreaterThan(withHash.micros / 4)
  })

  test('that costs more than this server pays opens for no password', async () => {
    const dear = await createPasswordHasher({ memoryKiB: 1024, passes: 257 }).hash('correct horse')
    expect(await createPasswordHasher(cheap).check('correct horse', dear)).toMatchObject({ isRight: false })
    const dearest = await createPasswordHasher({ memoryKiB: 1024, passes: 256 }).hash('correct horse')
    expect(await createPasswordHasher(cheap).check('correct horse', dearest)).toMatchObject({ isRight: true })
  })

  test.each([
    ['m=19456,t=2,p=1', true],
    ['m=65536,t=4,p=4', true],
    ['m=65537,t=1,p=1', false],
    ['m=19456,t=600,p=1', false],
    ['m=99999999,t=1,p=1', false],
    ['m=65536,t=1,p=5', false],
    ['m=7,t=1,p=1', false],
    ['m=15,t=1,p=2', false],
    ['m=64,t=0,p=1', false],
    ['m=64,t=1,p=0', false],
  ])('of the cost %s is usable: %s', (cost, isUsable) => {
    const hash = `$argon2id$v=19$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`
    expect(isUsableHash(hash)).toBe(isUsable)
    expect(isUsableHash(hash.replace('argon2id', 'argon2i'))).toBe(false)
  })

  test('is refused with E-UNAVAILABLE when too many wait', async () => {
    const passwords = createPasswordHasher({ memoryKiB: 1024, passes: 1 })
    const all = await Promise.allSettled(Array.from({ length: 70 }, () => passwords.hash('correct horse')))
    const refused = all.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(4)
    expect(refused[0]?.reason).toMatchObject({ code: 'E-UNAVAILABLE' })
  })
})

test('a new password has 8 to 1024 characters, counted as people see them', () => {
  for (const good of ['12345678', 'ü'.repeat(8), '🔑'.repeat(8), 'x'.repeat(1024)])
    expect(() => assertAcceptablePassword(good, '/password')).not.toThrow()
  for (const bad of ['', '1234567', '🔑'.repeat(7), 'x'.repeat(1025)])
    expect(() => assertAcceptablePassword(bad, '/password')).toThrow(
      expect.objectContaining({
        code: 'E-VALIDATION',
        details: { issues: [expect.objectContaining({ path: '/password' })] },
      }),
    )
})

/** What a run takes of the processors: how long it takes depends on who else wants them. */
async function timed<Answer>(run: () => Promise<Answer>) {
  const start = process.cpuUsage()
  const answer = await run()
  const { user, system } = process.cpuUsage(start)
  return { answer, micros: user + system }
}
