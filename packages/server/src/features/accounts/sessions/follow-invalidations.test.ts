import { expect, test } from 'vitest'
import { followInvalidations, whenCredentialsEnd } from './follow-invalidations.ts'

const callerTag = 'bob.example.com'
const all = [
  { forgotten: { tenantId: 2 }, ends: true, suspends: true },
  { forgotten: { tenantId: 2, sid: 's' }, ends: true, suspends: false },
  { forgotten: { callerTag }, ends: true, suspends: false },
  { forgotten: { callerTag, tenantId: 2 }, ends: false, suspends: false },
]

test.each(all)('$forgotten is applied, and followed where it may matter', ({ forgotten, ends, suspends }) => {
  const seen: unknown[] = []
  const authenticator = { applyInvalidation: (said: unknown) => void seen.push(said) }
  const tenants = { forget: () => void seen.push('tenants') }
  followInvalidations({ authenticator, tenants }, JSON.stringify(forgotten))
  whenCredentialsEnd(() => seen.push('sockets'))(JSON.stringify(forgotten))
  expect(seen).toEqual([forgotten, ...(suspends ? ['tenants'] : []), ...(ends ? ['sockets'] : [])])
})
