import { resolve } from 'node:path'
import { createClient, KithError } from '@kith/client'
import { Failure } from '#lib/failure.ts'
import { errorCode } from '#lib/system-error.ts'
import { type Command, type CommandInput, choiceOption, hasFlag, textOption, UsageError } from '../command.ts'
import { fetchFrom } from './local-names.ts'
import { makePackage } from './make-package.ts'
import { installPackage, publishPackage } from './publish-package.ts'

const audiences = { public: 'P', followers: 'F', connected: 'C' } as const

export const publishApp: Command = {
  name: 'app publish',
  summary: 'Pack an app and offer it on a server.',
  description:
    'FOLDER is packed as `app pack` does, uploaded, and offered by an action of the identity whose token is used. An API key that may write (Settings, API keys), or an access token, is read from `KITH_TOKEN`, or asked for. A version that is offered already is not offered again; with other content it is refused. What is in an installed package is public.',
  positionals: ['[FOLDER]'],
  options: {
    server: {
      type: 'string',
      value: 'URL',
      meaning: 'The address of the identity that publishes, like `https://alice.example.com`.',
    },
    visibility: {
      type: 'string',
      value: Object.keys(audiences).join('|'),
      meaning: 'Who may see the offer; `public` when absent.',
    },
    install: { type: 'boolean', meaning: 'Install it there as well.' },
  },
  async run(input) {
    const server = serverOf(input)
    const audience = choiceOption(input, 'visibility', ['public', 'followers', 'connected']) ?? 'public'
    const made = await makePackage(resolve(input.arguments.FOLDER ?? '.'))
    const token = input.env.KITH_TOKEN ?? (await input.ask(`API key of ${server} (Settings, API keys): `))
    const client = createClient({ baseUrl: server, token: token.trim(), fetch: fetchFrom(server) })
    const isInstalled = hasFlag(input, 'install')
    const { actionId, fileId, isNew } = await told(server, async () => {
      const publication = await publishPackage(client, made, audiences[audience])
      if (isInstalled) await installPackage(client, publication)
      return publication
    })
    const { warnings } = made
    const { name, version, id } = made.manifest
    const offered = isNew ? 'is offered' : 'was offered before'
    return {
      text: [
        `${name} ${version} ${offered} at ${server}${isInstalled ? ', and installed' : ''}.`,
        ...warnings,
      ],
      data: {
        server,
        id,
        name,
        version,
        actionId,
        fileId,
        published: isNew,
        installed: isInstalled,
        warnings,
      },
    }
  },
}

/** What the server answers is a failure of this command, and so is a server that does not answer. */
async function told<Result>(server: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof KithError) {
      const { code, message, details } = error
      const hint = code === 'E-AUTH-UNAUTH' ? ' Is the key whole, and one of this identity?' : ''
      throw new Failure(code, {
        message: `${server} answers: ${message}${hint}`,
        ...(details && { details }),
      })
    }
    if (error instanceof TypeError && isNoTls(error.cause))
      throw new Failure('E-UNAVAILABLE', {
        message: `${server} answers, but not with https. Is it ${server.replace('https:', 'http:')}?`,
      })
    if (error instanceof TypeError && error.cause !== undefined)
      throw new Failure('E-UNAVAILABLE', { message: `${server} cannot be reached.`, cause: error.cause })
    throw error
  }
}

/** What OpenSSL says of an answer that is none of TLS. */
function isNoTls(cause: unknown): boolean {
  const code = errorCode(cause)
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
}

function serverOf(input: CommandInput): string {
  const text = textOption(input, 'server')
  if (text === undefined)
    throw new UsageError('--server is missing: the address of the identity that publishes')
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`--server is an address like https://alice.example.com, not ${JSON.stringify(text)}`)
  return new URL(text).origin
}
