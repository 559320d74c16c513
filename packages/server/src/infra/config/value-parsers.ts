import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type IdTag, parseIdTag } from '@kith/protocol'
import { parseKeyText } from '#lib/key-text.ts'
import { type Mailbox, parseMailAddress, parseMailbox } from '#lib/mail-address.ts'
import { Secret } from '#lib/secret.ts'
import { Problem, type Surroundings } from './variable.ts'

/** Where to listen. `host` is without brackets. */
export interface ListenAddress {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export function idTag(text: string): IdTag | Problem {
  return parseIdTag(text) ?? new Problem('must be a DNS name of at least two labels')
}

export function path(text: string, { cwd }: Surroundings): string {
  return resolve(cwd, text)
}

const mostCounted = 1_000_000

export function countFrom1(text: string): number | Problem {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= mostCounted
    ? count
    : new Problem(`must be a whole number from 1 to ${mostCounted}`)
}

export function oneOf<const Words extends readonly string[]>(...words: Words) {
  return (text: string): Words[number] | Problem =>
    words.find((word) => word === text) ?? new Problem(`must be one of ${words.join(', ')}`)
}

/** Commas separate, white space around items does not count, empty items are dropped. */
export function listOf<Item>(parse: (text: string) => Item | Problem) {
  return (text: string): readonly Item[] | Problem => {
    const texts = text.split(',').map((item) => item.trim())
    const items = texts.filter((item) => item !== '').map(parse)
    const problem = items.find((item) => item instanceof Problem)
    return problem ?? items.filter((item): item is Item & {} => !(item instanceof Problem))
  }
}

/** Keeps the text of a value that only its user may see, after `check` has found it right. */
export function secretOf(check: (text: string) => unknown) {
  return (text: string): Secret | Problem => {
    const result = check(text)
    return result instanceof Problem ? result : new Secret(text)
  }
}

export function listenAddress(text: string): ListenAddress | Problem {
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  if (host === undefined || port > 65_535) return new Problem('must be ADDRESS:PORT, with IPv6 in brackets')
  if (bracketed !== undefined ? isIP(host) !== 6 : isIP(host) !== 4 && host !== 'localhost')
    return new Problem('must begin with an IP address, IPv6 in brackets')
  return { host, port }
}

/** `ip`, `ip:port` or `[ip]:port`, as `Resolver.setServers` takes it. */
export function dnsServer(text: string): string | Problem {
  if (isIP(text) !== 0) return text
  const address = listenAddress(text)
  if (address instanceof Problem || isIP(address.host) === 0 || address.port === 0)
    return new Problem('must be a list of ip or ip:port')
  return text
}

export function addressOrName(text: string): string | Problem {
  if (isIP(text) !== 0) return text.toLowerCase()
  return parseIdTag(text) ?? new Problem('must be a list of IP addresses or DNS names')
}

/** The exact text that a browser sends as `Origin`. */
export function origin(text: string): string | Problem {
  const url = httpUrl(text)
  if (url instanceof Problem || url.origin !== text.toLowerCase() || text.includes('*'))
    return new Problem('must be a list of origins like https://app.example, without a path')
  return url.origin
}

export function httpUrl(text: string): URL | Problem {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  return new Problem('must be an http or https address')
}

/** An http or https address without credentials. */
export function webAddress(text: string): string | Problem {
  const url = httpUrl(text)
  if (url instanceof Problem) return url
  return url.username === '' && url.password === '' ? url.href : new Problem('must not carry credentials')
}

export function urlWithScheme(...schemes: readonly string[]) {
  return (text: string): URL | Problem => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    const isRight = url !== undefined && schemes.some((scheme) => url.protocol === `${scheme}:`)
    return isRight
      ? url
      : new Problem(`must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
  }
}

/** `idTag=serverUrl` pairs; the URL is an origin. */
export function identityHosts(text: string): ReadonlyMap<IdTag, string> | Problem {
  const pairs = listOf(identityHost)(text)
  if (pairs instanceof Problem) return pairs
  const hosts = new Map(pairs)
  return hosts.size === pairs.length ? hosts : new Problem('names an identity twice')
}

function identityHost(text: string): readonly [IdTag, string] | Problem {
  const at = text.indexOf('=')
  const name = parseIdTag(text.slice(0, Math.max(at, 0)).trim())
  const url = httpUrl(text.slice(at + 1).trim())
  if (!name || url instanceof Problem || url.href !== `${url.origin}/`)
    return new Problem(
      'must be a list of idTag=serverUrl pairs, like alice.example=https://other.example,bob.localhost=http://bob.localhost:8081',
    )
  return [name, url.origin]
}

export function mailbox(text: string): Mailbox | Problem {
  return parseMailbox(text) ?? new Problem('must be an address or "Name <address>"')
}

export function mailAddress(text: string): string | Problem {
  return parseMailAddress(text) ?? new Problem('must be a mail address')
}

export function discoveryName(text: string): string | Problem {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
    ? text
    : new Problem('must be one lower-case DNS label')
}

export function password(text: string): string | Problem {
  const length = [...text].length
  return length >= 8 && length <= 1024 ? text : new Problem('must have 8 to 1024 characters')
}

export function keyText(text: string): Uint8Array | Problem {
  return parseKeyText(text) ?? new Problem('must be 32 bytes in base64 or hexadecimal')
}
