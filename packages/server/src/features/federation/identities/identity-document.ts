import { type IdTag, isVisibleName, parseFileId, parseVariantId } from '@kith/protocol'
import { anyKid, type PublishedIdentity, type PublishedKey } from './identity.ts'
import { importSigningKey } from './identity-key.ts'
import { parseInboxUrl, parseServerUrl, type UrlRules } from './server-url.ts'

export interface DocumentRules extends UrlRules {
  /** The identity that was asked for. */
  readonly idTag: IdTag
}

type Members = Readonly<Record<string, unknown>>

const maxKeys = 16
const kidForm = /^[A-Za-z0-9_-]{1,64}$/
// As with every timestamp of the protocol, a number from here on is in milliseconds.
const firstMilliseconds = 100_000_000_000

/** Reads the answer `{data: {idTag, serverUrl, publicKey, …}}` about an identity; undefined when it is no valid
 * description of the one that was asked for. Malformed members that only describe it, such as its name, are left
 * out. */
export function parseIdentityDocument(text: string, rules: DocumentRules): PublishedIdentity | undefined {
  const document = asObject(asObject(parseJson(text))?.data)
  if (!document || document.idTag !== rules.idTag) return undefined
  const serverUrl = asText(document.serverUrl, (value) => parseServerUrl(value, rules))
  const keys = readKeys(document)
  if (!serverUrl || !keys) return undefined
  const inboxUrl =
    document.inboxUrl === undefined
      ? `${serverUrl}/api/inbox`
      : asText(document.inboxUrl, (value) => parseInboxUrl(value, rules))
  if (!inboxUrl) return undefined
  return { idTag: rules.idTag, serverUrl, inboxUrl, keys, ...readDescription(document) }
}

/** The listed keys, or the one key of a server that lists none. One malformed key makes the document invalid, because
 * it may have been meant to be the one that counts. */
function readKeys(document: Members): readonly PublishedKey[] | undefined {
  const current = asText(document.publicKey, canonicalPem)
  if (!current) return undefined
  if (document.keys === undefined) return [{ kid: anyKid, publicKey: current }]
  if (!Array.isArray(document.keys) || document.keys.length > maxKeys) return undefined
  const keys = document.keys.map(readKey).filter((key) => key !== undefined)
  const kids = new Set(keys.map(({ kid }) => kid))
  const allGood = keys.length === document.keys.length && kids.size === keys.length
  return allGood && keys.some(({ publicKey }) => publicKey === current) ? keys : undefined
}

function readKey(value: unknown): PublishedKey | undefined {
  const member = asObject(value)
  const kid = asText(member?.kid, (text) => (kidForm.test(text) ? text : undefined))
  const publicKey = asText(member?.publicKey, canonicalPem)
  if (!kid || !publicKey) return undefined
  const { expiresAt, revokedAt } = member ?? {}
  if (!isTime(expiresAt) || !isTime(revokedAt)) return undefined
  return {
    kid,
    publicKey,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(revokedAt === undefined ? {} : { revokedAt }),
  }
}

function isTime(value: unknown): value is number | undefined {
  if (value === undefined) return true
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < firstMilliseconds
}

function readDescription(document: Members): Pick<PublishedIdentity, 'name' | 'type' | 'profilePic'> {
  const name = asText(document.name, readName)
  const picture = asText(document.profilePic, (text) =>
    parseFileId(text) || parseVariantId(text) ? text : undefined,
  )
  return {
    ...(name === undefined ? {} : { name }),
    ...(document.type === 'person' || document.type === 'community' ? { type: document.type } : {}),
    ...(picture === undefined ? {} : { profilePic: picture }),
  }
}

function readName(text: string): string | undefined {
  const name = text.trim()
  return isVisibleName(name) ? name : undefined
}

/** One spelling per key, so that keys can be compared as text. */
function canonicalPem(pem: string): string | undefined {
  return importSigningKey(pem)?.export({ type: 'spki', format: 'pem' }).toString()
}

function asText(value: unknown, read: (text: string) => string | undefined): string | undefined {
  return typeof value === 'string' ? read(value) : undefined
}

function asObject(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
