import { KithError } from '@kith/client'
import { addPasskey, getPasskeyChallenge } from '@kith/protocol'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { passkeysQuery } from './passkeys-query.ts'

/** Has this device make a passkey and adds it to the account. */
export async function makePasskey(name: string): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const { data } = await client.call(getPasskeyChallenge)
  const optionsJSON = data.options as unknown as Parameters<typeof startRegistration>[0]['optionsJSON']
  const { id, rawId, type, response } = await startRegistration({ optionsJSON })
  const { clientDataJSON, attestationObject, transports } = response
  const answer = { clientDataJSON, attestationObject, ...(transports ? { transports } : {}) }
  const credential = { id, rawId, type: type as 'public-key', response: answer }
  await client.call(addPasskey, { body: { name, credential } })
  await queries.invalidateQueries({ queryKey: passkeysQuery.queryKey })
}

/** The text about what went wrong, as far as the authenticator says it; what the server says is known. */
export function whyNoPasskey(error: unknown): 'known' | 'notMade' | undefined {
  if (error instanceof KithError) return error.code === 'E-DUPLICATE' ? 'known' : undefined
  if (!(error instanceof Error) || error instanceof TypeError) return undefined
  return error.name === 'InvalidStateError' ? 'known' : 'notMade'
}
