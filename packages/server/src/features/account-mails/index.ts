export { accountMailJob } from './account-mail-job.ts'
export { type MailedReference, mailedTo, mailReference, queueAccountMail } from './queue-account-mail.ts'
export { type AccountMailDeps, handleAccountMails, passwordLink } from './send-account-mail.ts'
