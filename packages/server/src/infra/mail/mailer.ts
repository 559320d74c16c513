/** A message to one person. Texts are written by the server; nothing of a user's ends up in a header but the address. */
export interface Mail {
  /** A plain address. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** `address` or `Name <address>`; the server's own sender when absent. */
  readonly from?: string
  /** `<id@host>`: the same for each try, so that receivers can see that it is the same mail. */
  readonly messageId?: string
}

/** How far a mail got. */
export type MailStage = 'config' | 'dns' | 'connect' | 'tls' | 'auth' | 'send'

/** Why a mail was not sent; the message may be shown to an administrator. */
export class MailError extends Error {
  readonly stage: MailStage
  /** True when the same mail would be refused again. */
  readonly isPermanent: boolean

  constructor(stage: MailStage, message: string, options: { isPermanent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'MailError'
    this.stage = stage
    this.isPermanent = options.isPermanent
  }
}

export interface Mailer {
  /** Resolves when the mail server has taken the mail, or when it is a file. Throws `MailError`. */
  send(mail: Mail): Promise<void>
}
