import type { IdTag } from '@kith/protocol'
import type { Mailbox } from '#lib/mail-address.ts'
import type { Secret } from '#lib/secret.ts'
import type { PublicUrl } from './public-url.ts'
import type { BlobLocation, DatabaseLocation } from './storage.ts'
import type { ListenAddress } from './value-parsers.ts'
import type { Values, VariableName } from './variables.ts'

/** Where the master key is. A file that is `generated` is made when it does not exist. */
export type MasterKeyLocation =
  | { readonly kind: 'value'; readonly text: Secret }
  | { readonly kind: 'file'; readonly path: string; readonly generated: boolean }

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
}

/** Who ends TLS: a proxy in front, or this server at an address of its own. */
export type TlsConfig =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'files'
      readonly listen: ListenAddress
      readonly certFile: string
      readonly keyFile: string
    }
  | AcmeConfig

/** How certificates are got. */
export interface AcmeConfig {
  readonly kind: 'acme'
  readonly listen: ListenAddress
  readonly directoryUrl: string
  readonly email: string | undefined
  readonly challenge: 'http-01' | 'tls-alpn-01'
  /** Certificates to trust when the authority is asked, beside the usual ones. */
  readonly caFile: string | undefined
}

/** One line of the effective configuration; what is secret is hidden in `value`. */
export interface EffectiveVariable {
  readonly name: VariableName
  readonly value: string | undefined
  readonly from: 'environment' | 'file' | 'default'
}

/** A name that no variable has, and which one was probably meant. */
export interface UnknownVariable {
  readonly name: string
  readonly from: 'environment' | 'file'
  readonly nearest: VariableName | undefined
}

/** What the server was told, checked and complete. Secrets are boxed, so that printing the tree does not show them. */
export interface Config {
  readonly baseIdTag: IdTag
  readonly basePassword: Secret | undefined
  readonly defaultTenant: IdTag | undefined
  readonly listen: ListenAddress
  readonly tls: TlsConfig
  readonly publicUrl: PublicUrl
  readonly dataDir: string
  readonly database: DatabaseLocation
  readonly blobStore: BlobLocation
  /** Present exactly when `blobStore` is S3. */
  readonly s3Credentials: S3Credentials | undefined
  readonly redisUrl: Secret | undefined
  readonly masterKey: MasterKeyLocation
  readonly federation: {
    readonly discoveryName: string
    /** Server URLs by identity, consulted before DNS. */
    readonly identityHosts: ReadonlyMap<IdTag, string>
    /** Undefined: the system's. */
    readonly dnsServers: readonly string[] | undefined
    /** True, false, or the networks (CIDR) for which the address rule is lifted. */
    readonly allowPrivateNetwork: boolean | readonly string[]
    readonly localAddresses: readonly string[]
    /** Where the zones of identity providers are answered; empty: nowhere. */
    readonly dnsListen: readonly ListenAddress[]
  }
  readonly mail: {
    /** Undefined: mails are files in `directory`. */
    readonly smtpUrl: Secret | undefined
    readonly from: Mailbox
    readonly directory: string
  }
  readonly corsOrigins: readonly string[] | '*'
  /** Networks in CIDR form. */
  readonly trustedProxies: readonly string[]
  readonly connections: { readonly perAddress: number; readonly total: number }
  readonly metricsListen: ListenAddress | undefined
  readonly log: { readonly level: Values['LOG_LEVEL']; readonly format: Values['LOG_FORMAT'] }
  /** Every variable with what it came to and where from, for people. */
  readonly effective: readonly EffectiveVariable[]
  /** What is probably misspelt: in the environment what is nearly a variable, in the file whatever is none. */
  readonly unknown: readonly UnknownVariable[]
}

/** Everything that is wrong with the configuration, to be told at once. */
export class ConfigError extends Error {
  readonly problems: readonly { readonly variable: string; readonly message: string }[]

  constructor(problems: ConfigError['problems']) {
    const lines = problems.map(({ variable, message }) => `  ${variable} ${message}`)
    super(['The configuration is wrong:', ...lines].join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** May servers without TLS be asked? Where private networks are reached, there are such. */
export function allowsPlainHttp({ federation }: Pick<Config, 'federation'>): boolean {
  return federation.allowPrivateNetwork !== false
}

/** The address to which tenants' clients connect: that of HTTPS, where the server ends TLS itself. */
export function servedAddressOf({ listen, tls }: Pick<Config, 'listen' | 'tls'>): ListenAddress {
  return tls.kind === 'off' ? listen : tls.listen
}

/** Does the server get certificates itself? */
export function getsCertificates({ tls }: Pick<Config, 'tls'>): boolean {
  return tls.kind === 'acme'
}
