import { expect, test } from 'vitest'
import { type CertificateState, nextRenewal } from './certificate.ts'

const day = 86_400
const state: CertificateState = {
  name: 'kith.example',
  zone: 'kith.example',
  notBefore: 0,
  notAfter: 90 * day,
  renewAt: 60 * day,
  askAt: 0,
  orderUrl: undefined,
  orderStartedAt: undefined,
  nextAttemptAt: 0,
  failures: 0,
  failingSince: undefined,
  fault: undefined,
  warnedStage: 0,
  unwantedSince: undefined,
}
const window = { startMs: 50 * day * 1000, endMs: 70 * day * 1000, askAgainAtMs: undefined }

test.each([
  ['is a moment of the window', state, 30 * day, 55 * day],
  ['stays as it was chosen', { ...state, renewAt: 52 * day }, 30 * day, 52 * day],
  ['is chosen anew in another window', { ...state, renewAt: 40 * day }, 30 * day, 55 * day],
  // By hand, while the authority was asked.
  ['is not put off once it has come', { ...state, renewAt: 30 * day }, 30 * day, 30 * day],
])('the renewal that the authority asks for %s', (_name, given, now, renewAt) => {
  expect(nextRenewal(given, window, { now, random: 0.25 })).toMatchObject({ renewAt })
})
