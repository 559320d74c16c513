import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerAuthentication, type SMTPServerOptions } from 'smtp-server'

/** What the server was given. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body as they came. */
  readonly source: string
  readonly isEncrypted: boolean
  readonly user: string | undefined
}

export interface SmtpTestServer extends AsyncDisposable {
  readonly port: number
  readonly received: readonly ReceivedMail[]
}

interface SmtpTestOptions extends SMTPServerOptions {
  readonly login?: { readonly user: string; readonly password: string }
  /** What is said when credentials are refused. */
  readonly refusalOf?: (given: SMTPServerAuthentication) => string
}

/** What a server was sent to sign in, as some repeat it when they refuse. */
export function authLinesOf({ method, username, password }: SMTPServerAuthentication): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return method === 'PLAIN'
    ? `AUTH PLAIN ${base64(`\0${username}\0${password}`)}`
    : `AUTH LOGIN ${base64(username ?? '')} ${base64(password ?? '')}`
}

/** An SMTP server on a free port that keeps what it takes. With `login` it wants those credentials; other options are
 * those of the library, for instance an `onRcptTo` that refuses. */
export async function startSmtpServer(options: SmtpTestOptions = {}): Promise<SmtpTestServer> {
  const { login, refusalOf = () => 'Wrong user or password', ...rest } = options
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    // The library warns of its well-known certificate unless it logs nothing.
    logger: false,
    authOptional: login === undefined,
    onAuth(given, _session, answer) {
      if (given.username === login?.user && given.password === login?.password)
        answer(null, { user: given.username })
      else answer(new Error(refusalOf(given)))
    },
    onData(stream, session, answer) {
      void text(stream).then((source) => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          source,
          isEncrypted: session.secure === true,
          user: session.user === undefined ? undefined : String(session.user),
        })
        answer()
      }, answer)
    },
    ...rest,
  })
  // Clients that hang up in the middle are part of the tests.
  server.on('error', () => undefined)
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
