import { expect, test } from 'vitest'
import { type CertificateState, nextRenewal, warningStage } from './certificate.ts'

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

const fault = { kind: 'rateLimited', detail: 'too many' }
const missing = { ...state, notBefore: undefined, notAfter: undefined, renewAt: 0 }

test.each<[string, Partial<CertificateState>, number, number]>([
  ['is renewed in time', {}, 89 * day, 0],
  ['has ended, for whatever reason', {}, 90 * day, 4],
  ['fails with time left', { fault }, 67 * day, 0],
  // Held with others, without an attempt of its own.
  ['fails with a quarter left', { fault, failures: 0 }, 68 * day, 1],
  ['fails with a tenth left', { fault }, 81 * day, 2],
  ['fails with a fortieth left', { fault }, 88 * day, 3],
  ['is given up', { fault, unwantedSince: 5 }, 90 * day, 0],
  ['has none yet', missing, day, 0],
  ['fails for a short time', { ...missing, fault, failingSince: day }, day + 3599, 0],
  ['fails for an hour', { ...missing, fault, failingSince: day }, day + 3600, 1],
  ['fails for a week', { ...missing, fault, failingSince: day }, 8 * day, 2],
])('of a name that %s the administrator is told by stages', (_name, given, now, stage) => {
  expect(warningStage({ ...state, ...given }, now)).toBe(stage)
})
