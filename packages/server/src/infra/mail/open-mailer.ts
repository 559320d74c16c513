import type { Clock } from '#lib/clock.ts'
import type { Mailbox } from '#lib/mail-address.ts'
import type { Secret } from '#lib/secret.ts'
import { fileMailer } from './file-mailer.ts'
import type { Mailer } from './mailer.ts'
import { type SmtpTimeouts, smtpMailer, verifySmtp } from './smtp-mailer.ts'

export interface OpenMailerOptions {
  /** Undefined: mails are files. */
  readonly smtpUrl: Secret | undefined
  readonly from: Mailbox
  /** For the files. */
  readonly directory: string
  readonly clock: Pick<Clock, 'now'>
  readonly timeouts?: Partial<SmtpTimeouts>
}

const defaultTimeouts: SmtpTimeouts = { connectTimeoutMs: 10_000, silenceMs: 20_000, timeoutMs: 60_000 }

/** The way by which this server sends mail. Connects to nothing before the first mail. */
export function openMailer(options: OpenMailerOptions): Mailer {
  const { smtpUrl: url, from, directory, clock } = options
  if (!url) return fileMailer({ directory, from, clock })
  return smtpMailer({ url, from, clock, ...defaultTimeouts, ...options.timeouts })
}

/** Looks whether the mail server can be reached and takes the credentials; mails that are files need none. Throws
 * `MailError`. */
export async function verifyMailer(options: OpenMailerOptions): Promise<void> {
  const { smtpUrl: url, from, clock } = options
  if (url) await verifySmtp({ url, from, clock, ...defaultTimeouts, ...options.timeouts })
}
