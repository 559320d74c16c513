import type { Action } from '@kith/protocol'
import { expect, test } from 'vitest'
import { groupNotifications, issuersOf } from './group-notifications.ts'

let made = 0
function action(type: string, issuerTag: string, more: Partial<Action> = {}): Action {
  made += 1
  return {
    actionId: `a${made}`,
    type,
    issuerTag,
    issuer: { idTag: issuerTag, name: issuerTag.toUpperCase() },
    visibility: 'P',
    status: 'A',
    createdAt: new Date(Date.UTC(2026, 10, 23, 12) - made * 60_000).toISOString(),
    stat: {},
    ...more,
  }
}

const own = action('POST', 'me', { actionId: 'own' })
const foreign = action('POST', 'carl', { actionId: 'foreign' })
const viewer = {
  ownTag: 'me',
  subjects: new Map([
    ['own', own],
    ['foreign', foreign],
  ]),
}
const shown = (fresh: Action[], past: Action[]) =>
  groupNotifications(fresh, past, viewer).map((group) => {
    const names = issuersOf(group).map(({ idTag }) => idTag)
    return `${group.kind} ${names.join('+')}${group.isNew ? ' new' : ''}`
  })

test('what is of one kind about one thing is one line, with each person once', () => {
  const reactions = ['anna', 'ben', 'anna', 'cleo'].map((who) => action('REACT', who, { subject: 'own' }))
  expect(shown([], [...reactions, action('REACT', 'ben', { subject: 'other' })])).toEqual([
    'reaction anna+ben+cleo',
    'reaction ben',
  ])
})

test('of comments and reposts those that concern others are left out', () => {
  const past = [
    action('CMNT', 'anna', { parentId: 'own' }),
    action('CMNT', 'ben', { parentId: 'foreign' }),
    action('CMNT', 'cleo', { parentId: 'foreign', content: { text: 'Ask @me' } }),
    action('REPOST', 'dora', { subject: 'foreign' }),
    action('REPOST', 'emil', { subject: 'own' }),
  ]
  expect(shown([], past)).toEqual(['comment anna', 'mention cleo', 'repost emil'])
})

test('what is new comes once, and requests are not grouped', () => {
  const request = action('CONN', 'anna', { status: 'C' })
  const comment = action('CMNT', 'ben', { parentId: 'own', status: 'N' })
  const past = [
    { ...comment, status: 'A' as const },
    action('CONN', 'cleo'),
    action('CONN', 'dora', { subType: 'DEL' }),
    action('FSHR', 'emil', { status: 'A', subType: 'DEL' }),
  ]
  expect(shown([request, action('CONN', 'finn', { status: 'C' }), comment], past)).toEqual([
    'request anna new',
    'comment ben new',
    'connected cleo',
    'request finn new',
  ])
})
