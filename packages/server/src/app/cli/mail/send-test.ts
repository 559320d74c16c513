import { testEmail } from '#features/admin/index.ts'
import { Failure } from '#lib/failure.ts'
import { openSettingsMailer } from '../../settings-mailer.ts'
import { argument, type Command, refusingInvalid } from '../command.ts'
import { withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'
import { findMailServer } from './find-mail-server.ts'

/** What to do about a mail that got no further than a stage. */
type Advice = Readonly<Record<string, string>>

const adviceOnServer: Advice = {
  config: 'Check SMTP_URL and MAIL_FROM, or the settings email.smtp.*: kith config, kith settings list.',
  dns: 'The name of the mail server was not found: check its spelling, and the DNS of this machine.',
  connect:
    'Check host and port (587 with STARTTLS, 465 with TLS), the firewall, and whether your provider lets outgoing mail through.',
  tls: 'The mail server has no certificate that this machine trusts for this name: use the name in its certificate, and smtps:// for port 465 alone.',
  auth: 'Check user and password; many providers want a password for this program alone.',
  send: 'The mail server refused the mail: MAIL_FROM has to be an address that it lets this user send from. Its log says more.',
}

function adviceOnFiles(directory: string): Advice {
  return {
    ...adviceOnServer,
    send: `No mail server is configured, and this user cannot write the mail to a file in ${directory}: run kith as the user that runs the server, make room there, or set SMTP_URL.`,
  }
}

export const mailTest: Command = {
  name: 'mail test',
  summary: 'Send a mail now, and tell how far it got.',
  description:
    'It goes the way of every other mail: by SMTP_URL, else by the settings `email.smtp.*`, else into a file. The stages are `config`, `dns`, `connect`, `tls`, `auth` and `send`; each comes with what to do next. A mail server that takes a mail may still refuse it later: look into the mailbox, its spam folder too.',
  positionals: ['ADDRESS'],
  options: {},
  async run(input) {
    const to = argument(input, 'ADDRESS')
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const { settings } = identity
      const operator = await getOperator(program)
      const mailer = openSettingsMailer(services, settings)
      const by = await findMailServer(program)
      await refusingInvalid(() => testEmail({ ...services, mailer, settings }, { ...operator, to })).catch(
        (error) =>
          explained(error, by === undefined ? adviceOnFiles(services.config.mail.directory) : adviceOnServer),
      )
      return by === undefined
        ? {
            text: `No mail server is configured: the mail to ${to} is a file in ${services.config.mail.directory}.`,
            data: { sent: true, to, directory: services.config.mail.directory },
          }
        : { text: `${by} has taken a mail to ${to}.`, data: { sent: true, to, server: by } }
    })
  },
}

/** The same failure with what to do next. */
function explained(error: unknown, advice: Advice): never {
  if (!(error instanceof Failure) || error.code !== 'E-UNAVAILABLE') throw error
  const { stage, message } = error.details ?? {}
  const next = advice[String(stage)]
  throw new Failure('E-UNAVAILABLE', {
    message: `The mail was not sent (${stage}): ${String(message).replaceAll(/\s*\n/g, ' ')}`,
    details: { stage, message, ...(next === undefined ? {} : { advice: next }) },
  })
}
