import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { renderEmailLink } from './render-email-link.ts'

test('an address with characters that are patterns elsewhere is shown as it is', () => {
  const place = { idTag: 'alice.example' as IdTag, token: 'x', onward: '/account' }
  const email = "b$'z$&q@new.example"
  for (const outcome of [
    { kind: 'open', email } as const,
    { kind: 'done', email, signedOut: false } as const,
  ])
    expect(renderEmailLink(outcome, place, 'en')).toContain('<strong>b$&#39;z$&amp;q@new.example</strong>')
})
