import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, pageQuery, Words } from '../schemas.ts'
import { AdminTenant } from './admin-tenants.ts'

const tag = 'Administration'
const forAdmins = { auth: 'required', unscoped: true, role: 'SADM' } as const
const params = Type.Object({ jobId: Type.Integer({ minimum: 1, description: 'The number of a job' }) })

/** Which jobs: those that were given up, or those that are not finished. */
export const jobStates = ['failed', 'waiting'] as const

/** A job. Its payload is left out: it may be private to its tenant. */
export const AdminJob = Type.Object({
  jobId: Type.Integer(),
  kind: Type.String(),
  tenant: Type.Optional(Type.String({ description: 'Identity; absent for jobs of the server' })),
  attempts: Type.Integer(),
  lastError: Type.Optional(Type.String()),
  createdAt: IsoTime,
  lastAttemptAt: Type.Optional(IsoTime),
  nextAttemptAt: Type.Optional(IsoTime),
})
export type AdminJob = Static<typeof AdminJob>

export const listAdminJobs = contract({
  name: 'listAdminJobs',
  method: 'GET',
  path: '/api/admin/jobs',
  tag,
  summary: 'Jobs that were given up, or that wait, the newest first',
  description:
    'Jobs that were given up are kept for 30 days as a rule. `waiting`: not begun yet, to be tried again, or running; `nextAttemptAt` is not before the turn of a job that waits for another.',
  ...forAdmins,
  query: Type.Object({
    state: Type.Optional(Words(jobStates, { description: '`failed` when absent' })),
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
  }),
  reply: { kind: 'list', status: 200, schema: AdminJob },
  errors: [],
})

export const retryJob = contract({
  name: 'retryJob',
  method: 'POST',
  path: '/api/admin/jobs/{jobId}/retry',
  tag,
  summary: 'Try a job again that was given up, with as many attempts as a new one',
  ...forAdmins,
  params,
  reply: { kind: 'empty', status: 204 },
  errors: ['E-NOTFOUND'],
})

export const discardJob = contract({
  name: 'discardJob',
  method: 'DELETE',
  path: '/api/admin/jobs/{jobId}',
  tag,
  summary: 'Forget a job that was given up',
  ...forAdmins,
  params,
  reply: { kind: 'empty', status: 204 },
  errors: ['E-NOTFOUND'],
})

/** How the server stood on one day. */
const DayStatistics = Type.Object({
  day: Type.String({ description: 'UTC', examples: ['2026-01-31'] }),
  activePeople: Type.Integer({ description: 'People who live here and were here on this day' }),
  people: Type.Integer(),
  communities: Type.Integer(),
  actions: Type.Integer(),
  usedBytes: Type.Integer(),
  files: Type.Integer(),
  sockets: Type.Integer({ description: 'The most at one time, of those counted each hour' }),
})

export const ServerStatistics = Type.Object({
  version: Type.String(),
  startedAt: IsoTime,
  tenants: Type.Object({ active: Type.Integer(), suspended: Type.Integer() }),
  people: Type.Object({
    total: Type.Integer({ description: 'Suspended ones included' }),
    activeIn7Days: Type.Integer({ description: 'Today is one of the days; each hour who came is counted' }),
    activeIn30Days: Type.Integer(),
  }),
  communities: Type.Integer(),
  actions: Type.Integer({ description: 'Made by tenants of this server and not over, as counted each hour' }),
  sockets: Type.Integer({ description: 'Open WebSockets of all processes, a minute ago at most' }),
  days: Type.Array(DayStatistics, {
    description:
      'The last 31 days on which the server ran, the newest first, as they were counted each hour; today as it is now',
  }),
  storage: Type.Object({ usedBytes: Type.Integer(), files: Type.Integer() }),
  jobs: Type.Array(
    Type.Object({
      kind: Type.String(),
      waiting: Type.Integer({
        description: 'Not begun yet, or to be tried again; what runs every so often does not count',
      }),
      running: Type.Integer(),
      failed: Type.Integer({ description: 'Given up' }),
    }),
  ),
})
export type ServerStatistics = Static<typeof ServerStatistics>

export const getStatistics = contract({
  name: 'getStatistics',
  method: 'GET',
  path: '/api/admin/stats',
  tag,
  summary: 'How many people there are and were here, what they store, and how the jobs stand',
  ...forAdmins,
  reply: { kind: 'data', status: 200, schema: ServerStatistics },
  errors: [],
})

export const ServerStorage = Type.Object({
  usedBytes: Type.Integer(),
  files: Type.Integer(),
  freeBytes: Type.Optional(
    Type.Integer({ description: 'On the disk of the data folder, for ordinary users' }),
  ),
  largest: Type.Array(AdminTenant),
})
export type ServerStorage = Static<typeof ServerStorage>

export const getStorage = contract({
  name: 'getStorage',
  method: 'GET',
  path: '/api/admin/storage',
  tag,
  summary: 'What is stored in all, and by the twenty tenants that store most',
  ...forAdmins,
  reply: { kind: 'data', status: 200, schema: ServerStorage },
  errors: [],
})

export const checkStatuses = ['ok', 'warning', 'problem'] as const

export const ServerChecks = Type.Object({
  address: Type.Object({
    url: Type.String({ description: 'Where others reach the base tenant' }),
    status: Words(checkStatuses),
    message: Type.String({ description: 'What was found, in English' }),
    advice: Type.Optional(Type.String({ description: 'What to do about it, in English' })),
  }),
  mail: Type.Object({
    isSent: Type.Boolean({ description: 'False where no mail server is set: mails are files of the server' }),
  }),
  backup: Type.Object({
    lastAt: Type.Optional(IsoTime),
  }),
  registration: Words(['open', 'invite', 'closed'], {
    description: '`closed`: the server is reached under the name of its base tenant alone',
  }),
})
export type ServerChecks = Static<typeof ServerChecks>

export const getServerChecks = contract({
  name: 'getServerChecks',
  method: 'GET',
  path: '/api/admin/checks',
  tag,
  summary: 'Whether the server is reached, sends mail and is backed up, and who may register',
  description:
    'The server asks its own address as others do, which takes ten seconds at most. `backup` knows of `kith backup` alone, run with the data directory of the process that answers.',
  ...forAdmins,
  reply: { kind: 'data', status: 200, schema: ServerChecks },
  errors: [],
})

export const adminWorkContracts = [
  listAdminJobs,
  retryJob,
  discardJob,
  getStatistics,
  getStorage,
  getServerChecks,
]
