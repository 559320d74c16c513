import type { RtdbPresenceChange } from '@kith/app'
import { expect, test } from 'vitest'
import { People } from '../src/people.ts'

/** Who is there after some changes. */
function othersAfter(...changes: RtdbPresenceChange[]): string[] {
  const people = new People()
  for (const change of changes) people.take(change)
  return people.others()
}
const of = (idTag: string) => ({ user: { idTag } })
const sync: RtdbPresenceChange = {
  action: 'sync',
  connId: 'own',
  users: [
    { connId: 'own', state: of('alice.example') },
    { connId: '1', state: of('carol.example') },
    { connId: '2', state: of('bob.example') },
  ],
}

test('the others are those who were there, and those who have come since', () => {
  expect(othersAfter()).toEqual([])
  expect(othersAfter(sync)).toEqual(['bob.example', 'carol.example'])
  expect(othersAfter(sync, { action: 'join', connId: '3', state: of('dan.example') })).toEqual([
    'bob.example',
    'carol.example',
    'dan.example',
  ])
})

test('who has the list open twice is there once, until both are closed', () => {
  const again = { action: 'join', connId: '3', state: of('bob.example') } as const
  const leave = (connId: string) => ({ action: 'leave', connId }) as const
  expect(othersAfter(sync, again)).toEqual(['bob.example', 'carol.example'])
  expect(othersAfter(sync, again, leave('2'))).toEqual(['bob.example', 'carol.example'])
  expect(othersAfter(sync, again, leave('2'), leave('3'))).toEqual(['carol.example'])
})

test('oneself in another tab is one of the others', () => {
  expect(othersAfter(sync, { action: 'join', connId: '3', state: of('alice.example') })).toContain(
    'alice.example',
  )
})

test('who says nothing of themselves is not named', () => {
  expect(othersAfter(sync, { action: 'join', connId: '3', state: {} })).toEqual([
    'bob.example',
    'carol.example',
  ])
})

test('a new connection begins anew', () => {
  const later = { action: 'sync', connId: '9', users: [{ connId: '9', state: of('alice.example') }] } as const
  expect(othersAfter(sync, later as never)).toEqual([])
})
