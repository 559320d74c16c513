import { JobVerdict } from '#infra/jobs/index.ts'
import { MailError, type Mailer } from '#infra/mail/index.ts'

const minuteMs = 60_000

/** How jobs that send a mail are tried: for a day. */
export const mailJobPolicy = {
  retry: {
    maxAttempts: 12,
    giveUpAfterMs: 24 * 60 * minuteMs,
    firstDelayMs: 10_000,
    longestDelayMs: 60 * minuteMs,
  },
  concurrency: 2,
} as const

/** Sends a job's mail; a permanent refusal by the mail server ends the job. */
export async function sendFromJob(mailer: Mailer, mail: Parameters<Mailer['send']>[0]): Promise<void> {
  await mailer.send(mail).catch((error: unknown) => {
    if (error instanceof MailError && error.isPermanent)
      throw new JobVerdict(error.message, { kind: 'dead' }, error)
    throw error
  })
}
