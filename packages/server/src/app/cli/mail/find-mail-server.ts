import { findSmtpUrl } from '../../settings-mailer.ts'
import type { Program } from '../open-program.ts'

/** The mail server that mails go to; undefined where they become files. */
export async function findMailServer({ services, identity }: Program): Promise<string | undefined> {
  const url = services.config.mail.smtpUrl ?? (await findSmtpUrl(identity.settings))
  return url && new URL(url.reveal()).host
}

/** The folder in which mails are kept; undefined where a mail server takes them. */
export async function findMailDirectory(program: Program): Promise<string | undefined> {
  return (await findMailServer(program)) === undefined ? program.services.config.mail.directory : undefined
}
