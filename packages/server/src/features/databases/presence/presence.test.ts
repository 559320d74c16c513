import { beforeEach, describe, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { stampedState } from './member-state.ts'
import { Presence, type PresenceNews } from './presence.ts'

let clock: TestClock
let processes: Presence[]
/** Whether the processes hear each other. */
let isConnected: boolean

beforeEach(() => {
  clock = new TestClock()
  processes = []
  isConnected = true
})

function addProcess(): Presence {
  const own: Presence = new Presence({
    clock,
    publish(news: PresenceNews) {
      for (const each of isConnected ? processes : [own]) each.apply(news)
    },
  })
  processes.push(own)
  return own
}

function join(presence: Presence, connId: string) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  const events: any[] = []
  presence.join({
    connId,
    push: (text) => events.push(JSON.parse(text).event),
  })
  return events
}

describe('presence', () => {
  test('tells who is there, and then who joins, changes and leaves; not oneself', () => {
    const presence = addProcess()
    const ann = join(presence, 'ann')
    presence.say('ann', '{"at":1}')
    const bob = join(presence, 'bob')
    presence.say('bob', '{"at":2}')
    presence.say('bob', '{"at":3}')
    presence.say('bob', null)
    presence.say('bob', null)
    presence.leave('ann')
    expect(ann).toEqual([
      { action: 'sync', connId: 'ann', users: [] },
      { action: 'join', connId: 'bob', state: { at: 2 } },
      { action: 'update', connId: 'bob', state: { at: 3 } },
      { action: 'leave', connId: 'bob' },
    ])
    expect(bob).toEqual([
      { action: 'sync', connId: 'bob', users: [{ connId: 'ann', state: { at: 1 } }] },
      { action: 'leave', connId: 'ann' },
    ])
  })

  test('is for those who asked for it', () => {
    expect(() => addProcess().say('nobody', '{}')).toThrow(expect.objectContaining({ code: 400 }))
  })

  test('is told ten times a second; the last word comes at its end', () => {
    const presence = addProcess()
    const ann = join(presence, 'ann')
    join(presence, 'bob')
    const answers = Array.from({ length: 20 }, (_, at) => presence.say('bob', `{"at":${at}}`).isThrottled)
    expect(answers).toEqual([...Array(10).fill(false), ...Array(10).fill(true)])
    expect(ann).toHaveLength(11)
    clock.advance(1000)
    expect(ann.slice(11)).toEqual([{ action: 'update', connId: 'bob', state: { at: 19 } }])
  })

  test('of one who left says nothing more', () => {
    const presence = addProcess()
    const ann = join(presence, 'ann')
    join(presence, 'bob')
    for (let at = 0; at < 11; at += 1) presence.say('bob', `{"at":${at}}`)
    presence.leave('bob')
    clock.advance(1000)
    expect(ann.at(-1)).toEqual({ action: 'leave', connId: 'bob' })
  })

  test('is of a hundred', () => {
    const presence = addProcess()
    for (let at = 0; at <= 100; at += 1) join(presence, `c${at}`)
    for (let at = 0; at < 100; at += 1) presence.say(`c${at}`, '{}')
    expect(() => presence.say('c100', '{}')).toThrow(expect.objectContaining({ code: 429 }))
    presence.say('c0', null)
    presence.say('c100', '{}')
  })
})

describe('several processes', () => {
  test('see each other at once, also those that come later', () => {
    const [one, two] = [addProcess(), addProcess()]
    join(one, 'ann')
    one.say('ann', '{"at":1}')
    const bob = join(two, 'bob')
    expect(bob).toEqual([
      { action: 'sync', connId: 'bob', users: [] },
      { action: 'join', connId: 'ann', state: { at: 1 } },
    ])
    one.say('ann', '{"at":2}')
    expect(join(two, 'cid')).toEqual([
      { action: 'sync', connId: 'cid', users: [{ connId: 'ann', state: { at: 2 } }] },
    ])
    one.leave('ann')
    expect(bob.slice(2)).toEqual([
      { action: 'update', connId: 'ann', state: { at: 2 } },
      { action: 'leave', connId: 'ann' },
    ])
  })

  test('forget one that died within 75 s, and not one that lives', () => {
    const [one, two] = [addProcess(), addProcess()]
    const bob = join(two, 'bob')
    join(one, 'ann')
    one.say('ann', '{}')
    clock.advance(200_000)
    expect(bob.at(-1)).toMatchObject({ action: 'join' })
    isConnected = false
    clock.advance(75_000)
    expect(bob.at(-1)).toEqual({ action: 'leave', connId: 'ann' })
    isConnected = true
    clock.advance(25_000)
    expect(bob.at(-1)).toMatchObject({ action: 'join', connId: 'ann' })
  })
})

describe('the identity in a state', () => {
  test.each([
    [
      { user: { idTag: 'eve.example', name: 'E' } },
      'ann.example',
      { user: { name: 'E', idTag: 'ann.example' } },
    ],
    [{ user: { name: 'E' }, x: 1 }, 'ann.example', { user: { name: 'E', idTag: 'ann.example' }, x: 1 }],
    [{ user: { idTag: 'eve.example', name: 'E' } }, undefined, { user: { name: 'E' } }],
    [{ x: 1 }, 'ann.example', { x: 1 }],
  ])('of %j as %s is %j', (state, idTag, stamped) => {
    expect(JSON.parse(stampedState(state, idTag as never))).toEqual(stamped)
  })

  test.each(['eve', null, 1, ['eve']])('a user that is %j is refused', (user) => {
    expect(() => stampedState({ user }, undefined)).toThrow(expect.objectContaining({ code: 400 }))
  })

  test('a state of more than 2 KiB is refused', () => {
    expect(stampedState({ x: 'ä'.repeat(1000) }, undefined)).toContain('ä')
    expect(() => stampedState({ x: 'ä'.repeat(1024) }, undefined)).toThrow(
      expect.objectContaining({ code: 413 }),
    )
  })
})
