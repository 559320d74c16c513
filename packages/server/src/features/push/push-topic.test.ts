import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import type { StoredAction } from '#features/actions/index.ts'
import { topicOf } from './push-topic.ts'

const tenant = { idTag: 'alice.example.com' as IdTag }
const received = (members: Partial<StoredAction>) =>
  ({ issuerTag: 'bob.example.com', status: 'A', isMarked: false, ...members }) as StoredAction

test('what is about another text than the one that is held notifies of nothing, unless it is a message', () => {
  const topics = (isMismatched: boolean) =>
    (['REACT', 'CMNT', 'REPOST', 'MSG'] as const).map((type) =>
      topicOf(tenant, received({ type, isMismatched, isMarked: true, content: { text: 'Hi' } })),
    )
  expect(topics(false)).toEqual(['reaction', 'comment', 'reaction', 'message'])
  expect(topics(true)).toEqual([undefined, undefined, undefined, 'message'])
})
