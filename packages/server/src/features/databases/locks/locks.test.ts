import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks } from '#harness/jobs-lab.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { TenantId } from '#infra/db/index.ts'
import { databasesMigrations } from '../databases-migrations.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { assertUnlocked } from './assert-unlocked.ts'
import { Locks } from './locks.ts'

const key = { tenantId: 7 as TenantId, fileId: 'f1~abc' } as unknown as DatabaseKey
const ann = { holder: 'ann.example', connId: 'ann-1' }
const bob = { holder: 'bob.example', connId: 'bob-1' }

eachDialect('locks', (open) => {
  async function lab() {
    const db = await open({ migrations: databasesMigrations })
    const clock = new TestClock()
    const processes: Locks[] = []
    const addProcess = () => {
      const told: string[] = []
      const locks: Locks = new Locks({
        db,
        clock,
        key,
        logger: { error: (fields) => told.push(`error ${JSON.stringify(fields)}`) },
        publish: (news) => {
          for (const each of processes) each.apply(news)
        },
        tell: ({ kind, lock }) => told.push(`${kind} ${lock.path} ${lock.holder} ${lock.mode}`),
      })
      processes.push(locks)
      return { locks, told }
    }
    return { db, clock, processes, addProcess }
  }

  test('a path is locked by one, and by the next when it is free', async () => {
    const { addProcess } = await lab()
    const { locks, told } = addProcess()
    expect(await locks.lock({ path: 'posts/a', ...ann }, 'soft')).toEqual({ locked: true })
    expect(await locks.lock({ path: 'posts/a', ...bob }, 'hard')).toEqual({
      locked: false,
      holder: 'ann.example',
      mode: 'soft',
    })
    expect(await locks.lock({ path: 'posts/b', ...bob }, 'hard')).toEqual({ locked: true })
    await locks.unlock({ path: 'posts/a', ...bob })
    expect((await locks.lock({ path: 'posts/a', ...bob }, 'hard')).locked).toBe(false)
    await locks.unlock({ path: 'posts/a', ...ann })
    expect(await locks.lock({ path: 'posts/a', ...bob }, 'hard')).toEqual({ locked: true })
    expect(told).toEqual([
      'lock posts/a ann.example soft',
      'lock posts/b bob.example hard',
      'unlock posts/a ann.example soft',
      'lock posts/a bob.example hard',
    ])
  })

  test('a lock lasts a minute from the last time it was asked for, and its end is told to all', async () => {
    const { clock, addProcess } = await lab()
    const { locks, told } = addProcess()
    await locks.lock({ path: 'posts/a', ...ann }, 'soft')
    clock.advance(50_000)
    await locks.lock({ path: 'posts/a', ...ann }, 'soft')
    clock.advance(59_000)
    await locks.settled()
    expect(told).toEqual(['lock posts/a ann.example soft'])
    clock.advance(1000)
    await locks.settled()
    expect(told.slice(1)).toEqual(['unlock posts/a ann.example soft'])
    expect(await locks.lock({ path: 'posts/a', ...bob }, 'soft')).toEqual({ locked: true })
  })

  test('locks end with the connection that took them last', async () => {
    const { addProcess } = await lab()
    const { locks, told } = addProcess()
    for (const path of ['posts/a', 'posts/b']) await locks.lock({ path, ...ann }, 'soft')
    await locks.lock({ path: 'posts/b', ...ann, connId: 'ann-2' }, 'hard')
    await locks.release('ann-1')
    expect(told.slice(2)).toEqual(['lock posts/b ann.example hard', 'unlock posts/a ann.example soft'])
    expect((await locks.lock({ path: 'posts/b', ...bob }, 'soft')).locked).toBe(false)
    await locks.release('ann-2')
    expect((await locks.lock({ path: 'posts/b', ...bob }, 'soft')).locked).toBe(true)
  })

  test('of a process that died another tells the end, and one that has missed something catches up', async () => {
    const { clock, processes, addProcess } = await lab()
    const dead = addProcess()
    await dead.locks.lock({ path: 'posts/a', ...ann }, 'soft')
    await dead.locks.lock({ path: 'posts/b', ...ann }, 'soft')
    processes.length = 0
    const { locks, told } = addProcess()
    await locks.look()
    expect(told.toSorted()).toEqual(['lock posts/a ann.example soft', 'lock posts/b ann.example soft'])
    processes.length = 0
    await dead.locks.lock({ path: 'posts/b', ...ann }, 'soft')
    await dead.locks.unlock({ path: 'posts/a', ...ann })
    await dead.locks.lock({ path: 'posts/c', ...bob }, 'hard')
    await dead.locks.close()
    clock.advance(1000)
    await locks.look()
    expect(told.slice(2)).toEqual(['unlock posts/a ann.example soft', 'lock posts/c bob.example hard'])
    clock.advance(60_000)
    await flushMicrotasks()
    await locks.settled()
    expect(told.slice(4).toSorted()).toEqual([
      'unlock posts/b ann.example soft',
      'unlock posts/c bob.example hard',
    ])
  })

  test('a hard lock keeps others from its document, or from the documents of its collection', async () => {
    const { db, clock, addProcess } = await lab()
    const { locks } = addProcess()
    await locks.lock({ path: 'posts/a', ...ann }, 'hard')
    await locks.lock({ path: 'posts/b', ...ann }, 'soft')
    await locks.lock({ path: 'notes', ...ann }, 'hard')
    const writing = (holder: string, ...paths: string[]) =>
      db.transact(key.tenantId, (tx) => assertUnlocked({ clock }, tx, { fileId: key.fileId, paths, holder }))
    await writing('ann.example', 'posts/a', 'notes/n')
    await writing(
      'bob.example',
      'posts',
      'posts/b',
      'posts/a/comments',
      'posts/a/comments/c',
      'notes/n/parts/p',
    )
    const locked = { code: 423, message: expect.stringContaining('ann.example') }
    await expect(writing('bob.example', 'posts/b', 'posts/a')).rejects.toMatchObject(locked)
    await expect(writing('anon:bob-1', 'notes/n')).rejects.toMatchObject(locked)
    await expect(writing('bob.example', 'notes')).rejects.toMatchObject(locked)
    clock.advance(60_000)
    await writing('bob.example', 'posts/a', 'notes/n')
  })

  test('a database has a thousand locks', async () => {
    const { clock, addProcess } = await lab()
    const { locks } = addProcess()
    const held = (at: number) => ({ path: `posts/${at}`, ...ann, mode: 'soft', expiresAt: 0 }) as const
    for (let at = 0; at < 999; at += 1)
      locks.apply({ kind: 'lock', lock: { ...held(at), expiresAt: clock.now() / 1000 + 60 } })
    await locks.lock({ path: 'posts/last', ...ann }, 'soft')
    await expect(locks.lock({ path: 'posts/more', ...bob }, 'soft')).rejects.toMatchObject({ code: 429 })
    await locks.lock({ path: 'posts/last', ...ann }, 'soft')
    clock.advance(60_000)
    await locks.settled()
    expect((await locks.lock({ path: 'posts/more', ...bob }, 'soft')).locked).toBe(true)
  })
})
