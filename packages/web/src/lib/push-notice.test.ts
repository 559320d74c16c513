import { expect, test } from 'vitest'
import { pushNotice } from './push-notice.ts'

const message = { type: 'action', issuer: 'bob.example', preview: 'Tea at <b>four</b>?', actionId: 'a1~x' }
const shown = { title: 'bob.example', body: 'Tea at <b>four</b>?' }

test.each([
  ['MSG', { conversationId: 'c1~y' }, 'c1~y', '/messages/c1~y'],
  ['MSG', {}, 'message bob.example', '/messages'],
  ['POST', { postId: 'a1~x' }, 'a1~x', '/posts/a1~x'],
  ['CMNT', { postId: 'a1~p' }, 'a1~p', '/posts/a1~x'],
  ['REACT', { postId: 'a1~p' }, 'a1~p', '/posts/a1~p'],
  ['CONN', {}, 'a1~x', '/notifications'],
  ['NEWER', {}, 'a1~x', '/notifications'],
])('a %s with %j is shown and leads to its place', (actionType, more, tag, path) => {
  const notice = pushNotice({ ...message, ...more, actionType }, 'en')
  expect(notice).toMatchObject({ ...shown, tag, data: { path, actionId: 'a1~x' } })
})

test('without a text it says what happened, in the language of the browser', () => {
  const hidden = { ...message, preview: '', actionType: 'MSG' }
  expect(pushNotice(hidden, 'de')?.body).toBe('Hat dir eine Nachricht geschickt.')
  expect(pushNotice({ ...hidden, actionType: 'NEWER' }, 'en')?.body).toBe('Something is new.')
})

test.each([[null], ['text'], [{}], [{ ...message, type: 'newer' }], [{ ...message, issuer: 7 }]])(
  '%j is nothing to show',
  (unknown) => {
    expect(pushNotice(unknown, 'en')).toBeUndefined()
  },
)
