import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { writeDurably } from '#lib/durable-file.ts'
import type { Mailbox } from '#lib/mail-address.ts'
import { mailFailure } from './mail-failure.ts'
import { mailMessage } from './mail-message.ts'
import type { Mailer } from './mailer.ts'

interface FileMailerOptions {
  readonly directory: string
  readonly from: Mailbox
  readonly clock: Pick<Clock, 'now'>
}

/** Writes each mail to a file `<time>-<random>.eml`, whose names sort by time; only the owner may read them, for they
 * carry links that sign people in. */
export function fileMailer({ directory, from, clock }: FileMailerOptions): Mailer {
  return {
    async send(mail) {
      const sentAt = new Date(clock.now())
      const message = mailMessage(mail, from, sentAt)
      try {
        const { createTransport } = await import('nodemailer')
        const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
        const { message: content } = await composer.sendMail(message)
        if (!Buffer.isBuffer(content)) throw new TypeError('the composed mail is not in memory')
        const time = sentAt.toISOString().replaceAll(/[-:]/g, '')
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await writeDurably(join(directory, `${time}-${randomBytes(4).toString('hex')}.eml`), content)
      } catch (error) {
        throw mailFailure(error)
      }
    },
  }
}
