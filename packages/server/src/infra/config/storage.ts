import { resolve } from 'node:path'
import { Secret } from '#lib/secret.ts'
import { httpUrl } from './value-parsers.ts'
import { Problem, type Surroundings } from './variable.ts'

/** `url` is what `openDatabase` takes. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string; readonly url: Secret }
  | { readonly kind: 'postgres'; readonly url: Secret }

export interface S3Location {
  readonly kind: 's3'
  readonly bucket: string
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string
  /** Undefined: that of the region at AWS. */
  readonly endpoint: string | undefined
  readonly region: string
  /** The bucket stands in the path and not in the host name. */
  readonly pathStyle: boolean
  /** Whether uploads carry a checksum wherever they can, or only where the interface insists: some servers refuse it. */
  readonly checksums: 'supported' | 'required'
  /** Whether readers of what everybody may read are sent to the bucket itself. */
  readonly redirects: 'none' | 'public'
}

export type BlobLocation = { readonly kind: 'file'; readonly path: string } | S3Location

function pathBehindScheme(text: string, { cwd }: Surroundings): string | Problem {
  const rest = text.slice(text.indexOf(':') + 1).replace(/^\/\/(?=\/)/, '')
  if (rest === '' || rest.startsWith('//') || rest.startsWith(':'))
    return new Problem('must name a path after the colon')
  return resolve(cwd, rest)
}

export function blobLocation(text: string, surroundings: Surroundings): BlobLocation | Problem {
  if (text.startsWith('s3:')) return s3Location(text)
  if (!text.startsWith('file:')) return new Problem('must begin with file: or s3://')
  const path = pathBehindScheme(text, surroundings)
  return path instanceof Problem ? path : { kind: 'file', path }
}

export function databaseLocation(text: string, surroundings: Surroundings): DatabaseLocation | Problem {
  if (/^postgres(?:ql)?:\/\//.test(text))
    return URL.canParse(text)
      ? { kind: 'postgres', url: new Secret(text) }
      : new Problem('must be an address like postgres://user:password@host/database')
  if (!text.startsWith('sqlite:')) return new Problem('must begin with sqlite: or postgres://')
  const path = pathBehindScheme(text, surroundings)
  return path instanceof Problem ? path : { kind: 'sqlite', path, url: new Secret(`sqlite:${path}`) }
}

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const s3Options = ['endpoint', 'region', 'pathStyle', 'checksums', 'redirects']

function s3Location(text: string): S3Location | Problem {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !bucketName.test(url.host)) return new Problem('must name a bucket like s3://bucket/prefix')
  if (url.username !== '' || url.password !== '')
    return new Problem('must leave credentials to S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
  const unknown = [...url.searchParams.keys()].find((name) => !s3Options.includes(name))
  if (unknown !== undefined) return new Problem(`has an unknown option ${JSON.stringify(unknown)}`)
  if (!/^[A-Za-z0-9._/-]*$/.test(url.pathname))
    return new Problem('must have a prefix of letters, digits, ._/-')
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  const pathStyle = url.searchParams.get('pathStyle') ?? 'false'
  const checksums = url.searchParams.get('checksums') ?? 'supported'
  const redirects = url.searchParams.get('redirects') ?? 'none'
  if (endpoint !== undefined && httpUrl(endpoint) instanceof Problem)
    return new Problem('must have an http or https address as its endpoint')
  if (pathStyle !== 'true' && pathStyle !== 'false') return new Problem('must have pathStyle=true or false')
  if (checksums !== 'supported' && checksums !== 'required')
    return new Problem('must have checksums=supported or required')
  if (redirects !== 'none' && redirects !== 'public') return new Problem('must have redirects=none or public')
  return {
    kind: 's3',
    bucket: url.host,
    prefix: url.pathname.replace(/^\/+|\/+$/g, ''),
    endpoint,
    region: url.searchParams.get('region') ?? 'us-east-1',
    pathStyle: pathStyle === 'true',
    checksums,
    redirects,
  }
}
