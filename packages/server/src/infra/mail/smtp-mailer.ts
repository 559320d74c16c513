import type { Transporter } from 'nodemailer'
import type { Clock } from '#lib/clock.ts'
import type { Mailbox } from '#lib/mail-address.ts'
import type { Secret } from '#lib/secret.ts'
import { mailFailure } from './mail-failure.ts'
import { mailMessage } from './mail-message.ts'
import type { Mailer } from './mailer.ts'

export interface SmtpTimeouts {
  /** For each of the name, the connection and the greeting. */
  readonly connectTimeoutMs: number
  /** Silence for this long ends the conversation. */
  readonly silenceMs: number
  /** The whole of one mail. */
  readonly timeoutMs: number
}

interface SmtpOptions extends SmtpTimeouts {
  readonly url: Secret
  readonly from: Mailbox
  readonly clock: Pick<Clock, 'now'>
}

/** Sends over SMTP, one connection per mail: mails are rare and a kept connection would go stale. */
export function smtpMailer(options: SmtpOptions): Mailer {
  let transport: Promise<Transporter> | undefined
  return {
    async send(mail) {
      const message = mailMessage(mail, options.from, new Date(options.clock.now()))
      try {
        transport ??= openTransport(options)
        const signal = AbortSignal.timeout(options.timeoutMs)
        await (await transport).sendMail({ ...message, signal })
      } catch (error) {
        throw mailFailure(error, options.url)
      }
    },
  }
}

/** Connects and signs in without sending anything. Throws `MailError`. */
export async function verifySmtp(options: SmtpOptions): Promise<void> {
  const transport = await openTransport(options)
  try {
    await transport.verify()
  } catch (error) {
    throw mailFailure(error, options.url)
  } finally {
    transport.close()
  }
}

// Imported only here, so that a server that sends no mail never loads the library.
async function openTransport({ url, connectTimeoutMs, silenceMs }: SmtpOptions): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url: url.reveal(),
    requireTLS: mustEncrypt(new URL(url.reveal())),
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** A password crosses a network only encrypted, unless the URL says `requireTLS=false`. */
function mustEncrypt({ username, hostname }: URL): boolean {
  return username !== '' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
