import { join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import {
  type Config,
  ConfigError,
  type EffectiveVariable,
  type MasterKeyLocation,
  type TlsConfig,
} from './config.ts'
import { readEnvFile } from './env-file.ts'
import { findUnknown } from './unknown-variables.ts'
import type { ListenAddress } from './value-parsers.ts'
import { defaultOf, Problem, type Surroundings, type Variable } from './variable.ts'
import { type Values, type VariableName, variables } from './variables.ts'

export interface ReadConfigOptions {
  /** A file of `NAME=value` lines; the environment wins over it. It need not exist. */
  readonly envFile?: string
  /** Where relative paths begin; the working directory when absent. */
  readonly cwd?: string
  /** Whether a person reads the log as it is written. */
  readonly isTerminal?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>
type Problems = { variable: string; message: string }[]

/** Reads the environment. Throws a `ConfigError` that names every variable with a problem. */
export function readConfig(env: Environment, options: ReadConfigOptions = {}): Config {
  const cwd = options.cwd ?? process.cwd()
  const problems: Problems = []
  const file = options.envFile === undefined ? {} : readEnvFile(resolve(cwd, options.envFile))
  if (file instanceof Problem) problems.push({ variable: String(options.envFile), message: file.message })
  const effective: EffectiveVariable[] = []
  const values: Partial<Record<VariableName, unknown>> = {}
  const known: Record<string, string | undefined> = {}
  const surroundings: Surroundings = { cwd, isTerminal: options.isTerminal ?? false, known }
  for (const name of Object.keys(variables) as VariableName[]) {
    const variable: Variable = variables[name]
    const { text, from } = sourceOf(name, [env, file instanceof Problem ? {} : file])
    const written = from === 'default' ? defaultOf(variable, surroundings) : text
    const value = written === undefined ? undefined : variable.parse(written, surroundings)
    if (value instanceof Problem) problems.push({ variable: name, message: value.message })
    else {
      values[name] = value
      known[name] = typeof value === 'string' ? value : written
    }
    effective.push({ name, value: shown(variable, known[name]), from })
  }
  const unknown = findUnknown(env, file instanceof Problem ? {} : file)
  return build(values as Values, problems, { effective, unknown })
}

function sourceOf(
  name: string,
  [env, file]: readonly [Environment, Environment],
): { text: string | undefined; from: EffectiveVariable['from'] } {
  // An empty value in the environment hides the file's and means the default.
  const source = env[name] === undefined ? file : env
  const text = source[name]?.trim()
  return text ? { text, from: source === env ? 'environment' : 'file' } : { text: undefined, from: 'default' }
}

function shown({ secret }: Variable, text: string | undefined): string | undefined {
  if (text === undefined || secret === undefined) return text
  if (secret === 'whole' || !URL.canParse(text)) return '[hidden]'
  const { protocol, username, password, host, pathname } = new URL(text)
  const credentials = username === '' && password === '' ? '' : '[hidden]@'
  return protocol === 'sqlite:' ? text : `${protocol}//${credentials}${host}${pathname}`
}

function build(values: Values, problems: Problems, told: Pick<Config, 'effective' | 'unknown'>): Config {
  conflicts(values, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    baseIdTag: values.BASE_ID_TAG,
    basePassword: values.BASE_PASSWORD,
    defaultTenant: values.DEFAULT_TENANT,
    listen: values.LISTEN,
    tls: tlsOf(values),
    publicUrl: values.PUBLIC_URL,
    dataDir: values.DATA_DIR,
    database: values.DATABASE_URL,
    blobStore: values.BLOB_STORE,
    s3Credentials: s3Credentials(values),
    redisUrl: values.REDIS_URL,
    masterKey: masterKey(values),
    federation: {
      discoveryName: values.DISCOVERY_NAME,
      identityHosts: values.IDENTITY_HOSTS ?? new Map(),
      dnsServers: values.DNS_SERVERS,
      allowPrivateNetwork: values.ALLOW_PRIVATE_NETWORK,
      localAddresses: values.LOCAL_ADDRESSES ?? [],
      dnsListen: values.DNS_LISTEN ?? [],
    },
    mail: { smtpUrl: values.SMTP_URL, from: values.MAIL_FROM, directory: join(values.DATA_DIR, 'mail') },
    corsOrigins: values.CORS_ORIGINS ?? [],
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    connections: { perAddress: values.MAX_CONNECTIONS_PER_ADDRESS, total: values.MAX_CONNECTIONS },
    metricsListen: values.METRICS_LISTEN,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    ...told,
  }
}

const isSecure = ({ PUBLIC_URL }: Partial<Values>) => PUBLIC_URL?.template.startsWith('https:') ?? false

/** Adds what is wrong with the variables together. One that is wrong itself is absent here and has been reported. */
function conflicts(values: Partial<Values>, problems: Problems): void {
  if (values.MASTER_KEY && values.MASTER_KEY_FILE && !isGeneratedKey(values))
    problems.push({ variable: 'MASTER_KEY', message: 'and MASTER_KEY_FILE exclude each other' })
  if (values.BLOB_STORE?.kind === 's3') {
    for (const variable of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const)
      if (values[variable] === undefined)
        problems.push({ variable, message: 'is needed when BLOB_STORE is s3:' })
    // A page that came by https shows nothing that comes by http, and servers do not follow there.
    const { redirects, endpoint = 'https:' } = values.BLOB_STORE
    if (redirects === 'public' && isSecure(values) && !endpoint.startsWith('https:'))
      problems.push({ variable: 'BLOB_STORE', message: 'must have an https endpoint to redirect there' })
  }
  tlsConflicts(values, problems)
  listenConflicts(values, problems)
  if (values.CORS_ORIGINS === '*' && values.BASE_ID_TAG?.endsWith('.localhost') === false)
    problems.push({ variable: 'CORS_ORIGINS', message: 'may be * only when BASE_ID_TAG ends in .localhost' })
}

function tlsConflicts(values: Partial<Values>, problems: Problems): void {
  const { TLS, PUBLIC_URL } = values
  if (TLS === 'files')
    for (const variable of ['TLS_CERT', 'TLS_KEY'] as const)
      if (values[variable] === undefined) problems.push({ variable, message: 'is needed when TLS is files' })
  if (TLS === 'acme' && values.BASE_ID_TAG?.endsWith('.localhost'))
    problems.push({
      variable: 'TLS',
      message: 'must not be acme where BASE_ID_TAG ends in .localhost: nobody certifies such names',
    })
  if (TLS !== undefined && TLS !== 'off' && PUBLIC_URL && !isSecure(values))
    problems.push({ variable: 'PUBLIC_URL', message: `must begin with https: when TLS is ${TLS}` })
}

const listenNames = ['LISTEN', 'LISTEN_TLS', 'METRICS_LISTEN', 'DNS_LISTEN'] as const

/** Two of the server's own addresses cannot have one port, unless they are different ones of the machine. */
function listenConflicts(values: Partial<Values>, problems: Problems): void {
  const used = listenNames.filter((name) => name !== 'LISTEN_TLS' || (values.TLS ?? 'off') !== 'off')
  const addressesOf = (name: (typeof listenNames)[number]) => [values[name] ?? []].flat()
  for (const [at, variable] of used.entries()) {
    const own = addressesOf(variable)
    const other = used
      .slice(0, at)
      .find((name) => addressesOf(name).some((address) => own.some((each) => overlap(address, each))))
    if (other) problems.push({ variable, message: `must have another address or port than ${other}` })
    const isTwice = own.some((address, from) => own.slice(from + 1).some((each) => overlap(address, each)))
    if (isTwice)
      problems.push({
        variable,
        message: 'must not have an address and port twice: 0.0.0.0 is every one of IPv4, [::] every one',
      })
  }
}

function overlap(one: ListenAddress, other: ListenAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false
  const hosts = [canonical(one.host), canonical(other.host)]
  const isLoopback = (host: string) => ['localhost', '127.0.0.1', '::1'].includes(host)
  return (
    hosts[0] === hosts[1] ||
    hosts.includes('::') ||
    // It has no address of IPv6.
    (hosts.includes('0.0.0.0') && hosts.every((host) => !host.includes(':'))) ||
    (hosts.includes('localhost') && hosts.every(isLoopback))
  )
}

/** Addresses can be written in several ways. */
function canonical(host: string): string {
  return ipaddr.isValid(host) ? ipaddr.process(host).toString() : host
}

function tlsOf(values: Values): TlsConfig {
  const { TLS: kind, LISTEN_TLS: listen, TLS_CERT: certFile, TLS_KEY: keyFile } = values
  if (kind === 'files' && certFile !== undefined && keyFile !== undefined)
    return { kind, listen, certFile, keyFile }
  if (kind !== 'acme') return { kind: 'off' }
  return {
    kind,
    listen,
    directoryUrl: values.ACME_DIRECTORY,
    email: values.ACME_EMAIL,
    challenge: values.ACME_CHALLENGE,
    caFile: values.ACME_CA_FILE,
  }
}

function s3Credentials(values: Values): Config['s3Credentials'] {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = values
  if (values.BLOB_STORE.kind !== 's3' || !accessKeyId || !secretAccessKey) return undefined
  return { accessKeyId, secretAccessKey }
}

function masterKey(values: Values): MasterKeyLocation {
  if (values.MASTER_KEY) return { kind: 'value', text: values.MASTER_KEY }
  return { kind: 'file', path: values.MASTER_KEY_FILE, generated: isGeneratedKey(values) }
}

/** Only the file at the default place is made by the server. One at another place was put there by the operator: when
 * it is missing, a new key would only hide that. */
function isGeneratedKey({ DATA_DIR, MASTER_KEY_FILE }: Partial<Values>): boolean {
  return DATA_DIR !== undefined && MASTER_KEY_FILE === join(DATA_DIR, 'master.key')
}
