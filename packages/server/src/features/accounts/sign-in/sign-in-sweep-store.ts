import { deletionOf } from '#infra/db/index.ts'

// NOTE: all of these over all tenants.

/** An empty bucket is the same as none. */
export const deleteEmptyBuckets = deletionOf({
  table: 'attempt_buckets',
  key: ['tenant_id', 'key_hash'],
  time: 'full_until_ms',
})

export const deleteEndedQrSessions = deletionOf({
  table: 'qr_sessions',
  key: ['tenant_id', 'session_id'],
  time: 'expires_at',
})

export const deleteEndedChallenges = deletionOf({
  table: 'passkey_challenges',
  key: ['tenant_id', 'challenge_hash'],
  time: 'expires_at',
})
