import { createClient, KithError } from '@kith/client'
import { Failure } from '#lib/failure.ts'
import { errorCode } from '#lib/system-error.ts'
import { type Command, type CommandInput, choiceOption, textOption, UsageError } from '../command.ts'
import { fetchFrom } from './local-names.ts'
import type { AppPackage } from './make-package.ts'
import { installPackage, type PublishOptions, publishPackage } from './publish-package.ts'

const audiences = { public: 'P', followers: 'F', connected: 'C' } as const

/** The options of commands that offer packages. */
export const offerOptions = {
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
} satisfies Command['options']

/** Where packages are offered, and to whom. */
interface Offering {
  readonly server: string
  readonly visibility: PublishOptions['visibility']
}

/** What commands say of a package that is offered. */
interface Offer {
  readonly server: string
  readonly idTag: string
  readonly id: string
  readonly name: string
  readonly version: string
  readonly actionId: string
  readonly fileId: string
  readonly published: boolean
  readonly installed: boolean
  readonly warnings: readonly string[]
}

/** What the options say. Throws a `UsageError`. */
export function readOffering(input: CommandInput): Offering {
  const audience = choiceOption(input, 'visibility', ['public', 'followers', 'connected']) ?? 'public'
  return { server: serverOf(input), visibility: audiences[audience] }
}

/** Offers packages, one after another, with the key of `KITH_TOKEN`, or one that is asked for. */
export async function offerPackages(
  input: CommandInput,
  packages: readonly AppPackage[],
  {
    server,
    visibility,
    isInstalled,
    mayDiffer = false,
  }: Offering & { isInstalled: boolean; mayDiffer?: boolean },
): Promise<Offer[]> {
  const token = input.env.KITH_TOKEN || (await input.ask(`API key of ${server} (Settings, API keys): `))
  const client = createClient({ baseUrl: server, token: token.trim(), fetch: fetchFrom(server) })
  const offers: Offer[] = []
  for (const made of packages) {
    const { isNew, ...publication } = await told(server, async () => {
      const published = await publishPackage(client, made, { visibility, mayDiffer })
      if (isInstalled) await installPackage(client, published)
      return published
    })
    const { id, name, version } = made.manifest
    const { warnings } = made
    offers.push({
      server,
      id,
      name,
      version,
      ...publication,
      published: isNew,
      installed: isInstalled,
      warnings,
    })
  }
  return offers
}

/** The same in lines. */
export function offerLines({
  name,
  version,
  idTag,
  server,
  published,
  installed,
  warnings,
}: Offer): string[] {
  const offered = published ? 'is offered' : 'was offered before'
  const end = installed ? ', and installed' : ''
  return [`${name} ${version} ${offered} by ${idTag}, at ${server}${end}.`, ...warnings]
}

const hints: Readonly<Record<string, string>> = {
  'E-AUTH-UNAUTH': 'Is the key whole, and one of this identity?',
  'E-AUTH-FORBIDDEN': 'May the key write, and does it belong to the owner or a leader?',
}

/** What the server answers is a failure of this command, and so is a server that does not answer. */
async function told<Result>(server: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof KithError) {
      const { code, message, details } = error
      throw new Failure(code, {
        message: [`${server} answers: ${message}`, hints[code]].filter(Boolean).join(' '),
        ...(details && { details }),
      })
    }
    if (error instanceof TypeError && isNoTls(error.cause))
      throw new Failure('E-UNAVAILABLE', {
        message: `${server} answers, but not with https. Is it ${server.replace('https:', 'http:')}?`,
      })
    if (error instanceof TypeError && error.cause !== undefined)
      throw new Failure('E-UNAVAILABLE', { message: `${server} cannot be reached.`, cause: error.cause })
    // What it has answered is no JSON, or has not the members that it should.
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new Failure('E-UNAVAILABLE', { message: `${server} answers, but not as a Kith server does.` })
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
