export { type Mail, MailError, type Mailer, type MailStage } from './mailer.ts'
export { type OpenMailerOptions, openMailer, verifyMailer } from './open-mailer.ts'
