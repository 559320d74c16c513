export { type Mail, MailError, type Mailer } from './mailer.ts'
export { openMailer, verifyMailer } from './open-mailer.ts'
