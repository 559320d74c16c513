import type { SendMailOptions } from 'nodemailer'
import { type Mailbox, parseMailAddress, parseMailbox } from '#lib/mail-address.ts'
import { htmlPart, textPart } from './mail-part.ts'
import { type Mail, MailError } from './mailer.ts'

const maxSubjectLength = 255
const controlCharacter = /\p{Cc}/u
const messageIdForm = /^<[A-Za-z0-9._~+-]{1,200}@[A-Za-z0-9.-]{1,253}>$/

/** Checks everything that goes into a header, and passes addresses to the library in a form with only one reading. */
export function mailMessage(mail: Mail, sender: Mailbox, date: Date): SendMailOptions {
  const to = parseMailAddress(mail.to)
  if (to === undefined) throw refusal('the receiver is not an e-mail address')
  const from = mail.from === undefined ? sender : parseMailbox(mail.from)
  if (from === undefined) throw refusal('the sender is not an e-mail address')
  if (controlCharacter.test(mail.subject) || mail.subject.length > maxSubjectLength)
    throw refusal(`a subject is one line of at most ${maxSubjectLength} characters`)
  if (mail.messageId !== undefined && !messageIdForm.test(mail.messageId))
    throw refusal('a message id has the form <id@host>')
  return {
    from: { name: from.name ?? '', address: from.address },
    to: { name: '', address: to },
    subject: mail.subject,
    text: textPart(mail.text),
    html: htmlPart(mail.html),
    envelope: { from: from.address, to, use8BitMime: true },
    date,
    ...(mail.messageId === undefined ? {} : { messageId: mail.messageId }),
    // Keeps vacation responders quiet (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function refusal(message: string): MailError {
  return new MailError('config', message, { isPermanent: true })
}
