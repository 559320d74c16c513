import type { ActionId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { findRelation } from '#features/relations/index.ts'
import { actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { serverTenant } from '#infra/db/index.ts'
import { findStoredAction } from '../index.ts'

eachDialect('the sweep', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    return { ...lab, alice: await lab.makeTenant('alice.example.com') }
  }

  test('deletes what has expired, with its effects, and nothing else', async () => {
    const lab = await start()
    const bob = await lab.makeTenant('bob.example.com')
    const expiresAt = Math.floor(lab.clock.now() / 1000) + 50
    const post = { type: 'POST' as const, content: { text: 'a' } }
    const ending = await lab.alice.create({ type: 'FLLW', audienceTag: bob.idTag, expiresAt })
    const staying = await lab.alice.create(post)
    const later = await lab.alice.create({ ...post, expiresAt: expiresAt + 3600 })
    await lab.settle()
    lab.tick(60)
    await lab.settle()
    const statusOf = async (actionId: string) =>
      (await findStoredAction(lab.alice.reader, actionId as ActionId))?.status
    expect(await Promise.all([ending, staying, later].map(({ actionId }) => statusOf(actionId)))).toEqual([
      'D',
      'A',
      'A',
    ])
    expect((await findRelation(lab.alice.reader, bob.idTag))?.isFollowing).toBe(false)
    expect((await findRelation(bob.reader, lab.alice.idTag))?.isFollower).toBe(false)
    expect(lab.events.filter(({ kind }) => kind === 'action.deleted')).toHaveLength(2)
    lab.tick(60)
    await lab.settle()
    expect(lab.events.filter(({ kind }) => kind === 'action.deleted')).toHaveLength(2)
  })

  test('forgets idempotency keys after a day', async () => {
    const lab = await start()
    const count = async () =>
      (
        await lab.db
          .reader(serverTenant)
          .tables<{ idempotency_keys: { tenant_id: number } }>()
          .selectFrom('idempotency_keys')
          .selectAll()
          .execute()
      ).length
    await lab.alice.create({ type: 'POST', content: { text: 'a' }, idempotencyKey: 'k' })
    lab.tick(60)
    await lab.settle()
    expect(await count()).toBe(1)
    lab.tick(86_400)
    await lab.settle()
    expect(await count()).toBe(0)
  })
})
