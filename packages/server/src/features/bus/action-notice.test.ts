import { expect, test } from 'vitest'
import type { ActionChange } from '#features/actions/index.ts'
import { actionNotice } from './action-notice.ts'

const change = (token: string | undefined) =>
  ({
    kind: 'action.deleted',
    tenant: { idTag: 'alice.example' },
    action: {
      actionId: 'a1~x',
      token,
      status: 'D',
      issuerTag: 'alice.example',
      audienceTag: 'bob.example',
      audience: [],
    },
  }) as unknown as ActionChange

test('the end of an action is told to those who may hold it, of a draft to its author alone', () => {
  expect(actionNotice(change('signed'))).toMatchObject({
    to: ['alice.example', 'bob.example', 'alice.example'],
  })
  expect(actionNotice(change(undefined))).toMatchObject({ to: ['alice.example'] })
})
