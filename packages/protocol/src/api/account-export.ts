import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { UnixTime, Words } from '../schemas.ts'

const tag = 'Export'

/** How far the export of an account is that was begun last. */
export const AccountExportView = Type.Object({
  status: Words(['none', 'waiting', 'running', 'complete', 'broken'], {
    description:
      '`waiting`: there is a ticket that was not used. `complete`: everything was handed to the network; `broken`: not everything, and what was saved is worth nothing',
  }),
  startedAt: Type.Optional(UnixTime),
  endedAt: Type.Optional(UnixTime),
  sentBytes: Type.Optional(Type.Integer({ description: 'While it runs, told anew every 15 seconds' })),
  reason: Type.Optional(
    Words(['reader-gone', 'too-slow', 'signed-out', 'disk-full', 'failed', 'stopped'], {
      description:
        'Why it is broken. `reader-gone`: the client went away or took nothing for a minute; `too-slow`: it gave way to others; `stopped`: the server did',
    }),
  ),
})
export type AccountExportView = Static<typeof AccountExportView>

/** What opens one download. */
export const ExportTicket = Type.Object({ ticket: Type.String(), expiresAt: UnixTime })
export type ExportTicket = Static<typeof ExportTicket>

export const getAccountExport = contract({
  name: 'getAccountExport',
  method: 'GET',
  path: '/api/export',
  tag,
  summary: 'How far the export of the account is that was begun last',
  auth: 'personal',
  role: 'leader',
  reply: { kind: 'data', status: 200, schema: AccountExportView },
  errors: [],
  example: { data: { status: 'running', startedAt: 1_780_000_000, sentBytes: 73_400_320 } },
})

export const startAccountExport = contract({
  name: 'startAccountExport',
  method: 'POST',
  path: '/api/export',
  tag,
  summary: 'Ask for a ticket with which everything that belongs to the account is downloaded once',
  description:
    'The sign-in must be at most 15 minutes old. The ticket is good for 60 seconds, once, and while the session lives; a later one takes its place. One export of an account at a time (409), and six in 24 hours (429).',
  auth: 'personal',
  role: 'leader',
  reply: { kind: 'data', status: 201, schema: ExportTicket },
  errors: ['E-STATE'],
  example: { data: { ticket: 'Hk2…', expiresAt: 1_780_000_060 } },
})

export const downloadAccountExport = contract({
  name: 'downloadAccountExport',
  method: 'GET',
  path: '/api/export/archive',
  tag,
  summary: 'Everything that belongs to the account, as an archive that `kith import` takes',
  description:
    'The ticket is the credential, so that a browser can save it by going there; a bearer is not looked at. A ticket that is unknown, used, late, or of a session that has ended answers 404. An archive that breaks off has no end: it is not resumed. 507 and 503 tell that the server has no room to prepare it.',
  auth: 'none',
  query: Type.Object({
    ticket: Type.String({ maxLength: 64, description: 'As `POST /api/export` gave it' }),
  }),
  reply: { kind: 'bytes', status: 200 },
  errors: ['E-NOTFOUND', 'E-STATE', 'E-QUOTA', 'E-TOOLARGE', 'E-UNAVAILABLE'],
})

export const accountExportContracts = [getAccountExport, startAccountExport, downloadAccountExport]
