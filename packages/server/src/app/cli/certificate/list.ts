import { type CertificateState, eachPage, likelyMending } from '#features/certificates/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { Command } from '../command.ts'
import { columns } from '../help.ts'
import { withProgram } from '../open-program.ts'

export const listCertificates: Command = {
  name: 'certificate list',
  summary: 'Show the names that this server gets certificates for, and how they stand.',
  positionals: [],
  options: {},
  run: (input) =>
    withProgram(input, async ({ services: { db, clock, config } }) => {
      const now = nowSecs(clock)
      const states = (await Array.fromAsync(eachPage(db))).flat()
      const certificates = states.map((state) => viewOf(state, now))
      const rows = certificates.map(({ name, state, expiresAt, error }) => [
        name,
        state,
        expiresAt?.slice(0, 10) ?? '-',
        error ? `${error.kind}: ${error.detail}` : '',
      ])
      const advice = new Set(certificates.flatMap(({ advice }) => advice ?? []))
      const text = [
        ...(config.tls.kind === 'acme' ? [] : ['This server gets no certificates itself (TLS).']),
        ...(rows.length === 0 ? ['No names yet.'] : columns(rows)),
        ...advice,
      ]
      return { text, data: { certificates } }
    }),
}

type ShownState = 'ok' | 'missing' | 'failing' | 'ended' | 'unused'

function viewOf(state: CertificateState, now: number) {
  const { name, notAfter, renewAt, nextAttemptAt, failures, fault } = state
  return {
    name,
    state: stateOf(state, now),
    ...(notAfter === undefined ? {} : { expiresAt: iso(notAfter), renewsAt: iso(renewAt) }),
    ...(fault === undefined
      ? {}
      : { failures, nextAttemptAt: iso(nextAttemptAt), error: fault, advice: likelyMending(fault) }),
  }
}

function stateOf({ unwantedSince, notAfter, fault }: CertificateState, now: number): ShownState {
  if (unwantedSince !== undefined) return 'unused'
  if (notAfter !== undefined && notAfter <= now) return 'ended'
  if (fault !== undefined) return 'failing'
  return notAfter === undefined ? 'missing' : 'ok'
}

const iso = (secs: number) => new Date(secs * 1000).toISOString()
