import type { Client } from '@kith/client'
import { client } from '#platform/client.ts'
import { ownIdTag } from '#platform/own-identity.ts'

/** The host of an identity: one's own, or another's through the gateway. */
export function hostOf(idTag: string): Client {
  return idTag === ownIdTag() ? client : client.at(idTag)
}
