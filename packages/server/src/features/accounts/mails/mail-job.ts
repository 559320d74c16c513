import { JobVerdict } from '#infra/jobs/index.ts'
import { type Mail, MailError, type Mailer } from '#infra/mail/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'

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

export interface SendDeps {
  readonly mailer: Mailer
  readonly logger: Pick<Logger, 'warn'>
}

/** Sends a job's mail; a permanent refusal by the mail server ends the job. A failure is logged without its stack, which
 * tells nothing of the mail server, and without the address of the person. */
export async function sendFromJob({ mailer, logger }: SendDeps, mail: Mail): Promise<void> {
  await mailer.send(mail).catch((error: unknown) => {
    if (!(error instanceof MailError)) throw error
    const { stage, message: detail, isPermanent } = error
    logger.warn({ stage, detail, isPermanent, messageId: mail.messageId }, 'a mail was not sent')
    throw new JobVerdict(detail, { kind: isPermanent ? 'dead' : 'retry' })
  })
}
