import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'
import { mailTemplates } from './mail-texts.ts'

const minuteMs = 60_000

/** A mail to the owner of the job's tenant. It names a reference by its hash: the queue holds nothing that opens. */
export const accountMailJob = jobKind({
  name: 'account.mail',
  payload: Type.Object({
    mailId: Type.String(),
    template: Type.Enum([...mailTemplates]),
    refHash: Type.Optional(Type.String()),
    lang: Type.Optional(Type.String()),
  }),
  retry: {
    maxAttempts: 12,
    giveUpAfterMs: 24 * 60 * minuteMs,
    firstDelayMs: 10_000,
    longestDelayMs: 60 * minuteMs,
  },
  concurrency: 2,
  leaseMs: 2 * minuteMs,
  keepDoneMs: 0,
})
