import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { findAccount } from '#features/accounts/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInLab, signInLab } from '#harness/sign-in-lab.ts'
import { password } from '#harness/sign-in-site.ts'
import { ensureBaseTenant } from './index.ts'

const newPassword = 'another good one'

eachDialect('the base tenant', (open) => {
  const idTag = 'base.example.com' as IdTag

  test('is made with its password, once, also by two nodes at once', async () => {
    const lab = await openSignInLab(open)
    const node = signInLab(lab.db, lab.world)
    const made = await Promise.all([
      ensureBaseTenant(lab.deps, { idTag, password }),
      ensureBaseTenant(node.deps, { idTag, password }),
    ])
    expect(made[0].tenant).toEqual(made[1].tenant)
    expect(made[0]).toMatchObject({
      tenant: expect.objectContaining({ idTag, isBase: true, type: 'person' }),
    })
    const before = await findAccount(lab.db.reader(made[0].tenant.tenantId))
    expect(await ensureBaseTenant(lab.deps, { idTag, password: newPassword })).toMatchObject({
      isPasswordIgnored: true,
    })
    expect(await findAccount(lab.db.reader(made[0].tenant.tenantId))).toEqual(before)
  })

  test('without a password has one set-up link, until it is used or a password is given', async () => {
    const lab = await openSignInLab(open)
    const { tenant, setUpRefId } = await ensureBaseTenant(lab.deps, { idTag })
    expect(setUpRefId).toMatch(/^[0-9A-Za-z]{24}$/)
    expect((await ensureBaseTenant(lab.deps, { idTag })).setUpRefId).toBe(setUpRefId)
    lab.clock.advance(31 * 86_400_000)
    const renewed = await ensureBaseTenant(lab.deps, { idTag })
    expect(renewed.setUpRefId).not.toBe(setUpRefId)
    expect(await ensureBaseTenant(lab.deps, { idTag, password })).toEqual({ tenant })
    expect(await ensureBaseTenant(lab.deps, { idTag })).toEqual({ tenant })
  })

  test('keeps its identity', async () => {
    const lab = await openSignInLab(open)
    await ensureBaseTenant(lab.deps, { idTag })
    const other = ensureBaseTenant(lab.deps, { idTag: 'other.example.com' as IdTag })
    await expect(other).rejects.toThrow('This server belongs to base.example.com')
    await expect(ensureBaseTenant(lab.deps, { idTag, password: 'short' })).rejects.toMatchObject({
      code: 'E-VALIDATION',
    })
  })
})
