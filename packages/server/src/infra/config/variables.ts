import { network, privateNetwork } from './networks.ts'
import { parsePublicUrl } from './public-url.ts'
import { blobLocation, databaseLocation } from './storage.ts'
import * as read from './value-parsers.ts'
import type { Parsed, Surroundings, Variable } from './variable.ts'

const isLocal = ({ known }: Surroundings) => known.BASE_ID_TAG?.endsWith('.localhost') ?? false
const hasTls = ({ known }: Surroundings) => known.TLS !== undefined && known.TLS !== 'off'

/** Every variable the server reads, in the order in which their defaults build on each other. */
export const variables = {
  BASE_ID_TAG: {
    group: 'Identity and addresses',
    meaning: 'Identity of the base tenant, made on the first start with role `SADM`.',
    default: 'home.localhost',
    parse: read.idTag,
  },
  BASE_PASSWORD: {
    group: 'Identity and addresses',
    meaning:
      'Password of the base tenant on the first start, 8 to 1024 characters. Without it a one-time set-up link is printed and written to `DATA_DIR/setup-link`. Later starts ignore it.',
    secret: 'whole',
    parse: read.secretOf(read.password),
  },
  DEFAULT_TENANT: {
    group: 'Identity and addresses',
    meaning: 'Tenant that answers requests for hosts nobody here has; `none` for a 404.',
    default: (surroundings) => (isLocal(surroundings) ? surroundings.known.BASE_ID_TAG : undefined),
    shownDefault: 'the base tenant when `BASE_ID_TAG` ends in `.localhost`, else none',
    parse: (text) => (text === 'none' ? undefined : read.idTag(text)),
  },
  TLS: {
    group: 'Identity and addresses',
    meaning:
      '`off`: a proxy in front of the server ends TLS. `acme`: the server gets certificates itself, by default from Let’s Encrypt, whose terms you agree to with it. `files`: it serves the one in `TLS_CERT` and `TLS_KEY`. See [TLS](tls.md).',
    default: 'off',
    parse: read.oneOf('off', 'acme', 'files'),
  },
  LISTEN: {
    group: 'Identity and addresses',
    meaning:
      'Address and port for HTTP, IPv6 in brackets. Port 0 picks a free one. With `TLS` this port answers authorities and `/healthz`, and sends everybody else to https.',
    default: (surroundings) => (hasTls(surroundings) ? '[::]:80' : '127.0.0.1:8080'),
    shownDefault: '`127.0.0.1:8080`, with `TLS` `[::]:80`',
    parse: read.listenAddress,
  },
  LISTEN_TLS: {
    group: 'Identity and addresses',
    meaning: 'Address and port for HTTPS, where `TLS` is `acme` or `files`.',
    default: '[::]:443',
    parse: read.listenAddress,
  },
  TLS_CERT: {
    group: 'Identity and addresses',
    meaning:
      'File with the certificate and those above it (PEM), where `TLS` is `files`. It is read again when it changes, within 30 seconds, and at once on SIGHUP.',
    parse: read.path,
  },
  TLS_KEY: {
    group: 'Identity and addresses',
    meaning: 'File with the private key of `TLS_CERT` (PEM, without a password).',
    parse: read.path,
  },
  ACME_DIRECTORY: {
    group: 'Identity and addresses',
    meaning: 'The certificate authority, where `TLS` is `acme`: the address of its directory (RFC 8555).',
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    parse: read.webAddress,
  },
  ACME_EMAIL: {
    group: 'Identity and addresses',
    meaning:
      "Address at which the authority may reach you. Mails about certificates go there where the base tenant's account has no address.",
    parse: read.mailAddress,
  },
  ACME_CHALLENGE: {
    group: 'Identity and addresses',
    meaning:
      'How the authority sees that a name leads here: `http-01` asks on port 80, `tls-alpn-01` on port 443, for servers that do not have port 80.',
    default: 'http-01',
    parse: read.oneOf('http-01', 'tls-alpn-01'),
  },
  ACME_CA_FILE: {
    group: 'Identity and addresses',
    meaning:
      'File with certificates (PEM) to trust when the directory of `ACME_DIRECTORY` is asked, for a private authority.',
    parse: read.path,
  },
  PUBLIC_URL: {
    group: 'Identity and addresses',
    meaning:
      "Where the world reaches the tenants, for links and `serverUrl`: `{idTag}` is the tenant's name, `{port}` the port that is listened on. Without `{idTag}` the base tenant alone is served.",
    default: (surroundings) => (hasTls(surroundings) ? 'https://{idTag}:{port}' : 'http://{idTag}:{port}'),
    shownDefault: '`http://{idTag}:{port}`, with `TLS` `https://{idTag}:{port}`',
    parse: parsePublicUrl,
  },
  DATA_DIR: {
    group: 'Storage',
    meaning: 'Database, blobs, keys and mail: everything to back up. One server uses it at a time.',
    default: './data',
    parse: read.path,
  },
  DATABASE_URL: {
    group: 'Storage',
    meaning: 'A SQLite file, or `postgres://user:password@host/database`.',
    default: 'sqlite:{DATA_DIR}/kith.db',
    secret: 'credentials',
    parse: databaseLocation,
  },
  BLOB_STORE: {
    group: 'Storage',
    meaning:
      'A directory, or `s3://bucket/prefix?endpoint=…&region=…&pathStyle=true` with the two variables below. `checksums=required` is for servers that refuse upload checksums; `redirects=public` sends readers of public files to the bucket.',
    default: 'file:{DATA_DIR}/blobs',
    parse: blobLocation,
  },
  S3_ACCESS_KEY_ID: {
    group: 'Storage',
    meaning: 'Needed when `BLOB_STORE` is `s3:`.',
    parse: (text) => text,
  },
  S3_SECRET_ACCESS_KEY: {
    group: 'Storage',
    meaning: 'Needed when `BLOB_STORE` is `s3:`.',
    secret: 'whole',
    parse: read.secretOf((text) => text),
  },
  REDIS_URL: {
    group: 'Storage',
    meaning: 'Shared bus, presence and rate limits between the nodes of one installation.',
    secret: 'credentials',
    parse: read.secretOf(read.urlWithScheme('redis', 'rediss')),
  },
  MASTER_KEY: {
    group: 'Keys',
    meaning:
      'Encrypts private keys at rest: 32 bytes in base64 or hexadecimal. If it is lost, every identity of the server is lost.',
    secret: 'whole',
    parse: read.secretOf(read.keyText),
  },
  MASTER_KEY_FILE: {
    group: 'Keys',
    meaning:
      'File with the same in place of `MASTER_KEY`. It must exist and be readable by its owner and group at most. Only the file of the default is made on the first start.',
    default: '{DATA_DIR}/master.key',
    parse: read.path,
  },
  DISCOVERY_NAME: {
    group: 'Federation',
    meaning:
      'Word in `/.well-known/service/id-tag` and in the `_service.` DNS label. The server answers and asks under its own word and under `service`.',
    default: 'service',
    parse: read.discoveryName,
  },
  IDENTITY_HOSTS: {
    group: 'Federation',
    meaning: '`idTag=serverUrl` pairs, separated by commas and consulted before DNS, like a hosts file.',
    parse: read.identityHosts,
  },
  DNS_SERVERS: {
    group: 'Federation',
    meaning: 'List of `ip` or `ip:port` to ask for discovery.',
    shownDefault: "the system's",
    parse: read.listOf(read.dnsServer),
  },
  ALLOW_PRIVATE_NETWORK: {
    group: 'Federation',
    meaning:
      '`true` lets the server call private addresses and plain http, for tests and local networks. A list of networks like `10.1.0.0/16` lifts the rule for those alone.',
    default: (surroundings) => String(isLocal(surroundings)),
    shownDefault: '`true` when `BASE_ID_TAG` ends in `.localhost`, else `false`',
    parse: privateNetwork,
  },
  LOCAL_ADDRESSES: {
    group: 'Federation',
    meaning:
      'Public addresses (IP or name) of this server: where the DNS of a domain must point to register it.',
    parse: read.listOf(read.addressOrName),
  },
  SMTP_URL: {
    group: 'Mail',
    meaning:
      '`smtp://user:password@host:port` or `smtps://…`. Without it mails are written as `.eml` files to `DATA_DIR/mail`.',
    secret: 'credentials',
    parse: read.secretOf(read.urlWithScheme('smtp', 'smtps')),
  },
  MAIL_FROM: {
    group: 'Mail',
    meaning: 'Sender of all mail: an address, or `Name <address>`.',
    default: 'noreply@{BASE_ID_TAG}',
    parse: read.mailbox,
  },
  CORS_ORIGINS: {
    group: 'HTTP',
    meaning:
      'Exact origins of web applications on other hosts that may use the API. `*` allows all, only when `BASE_ID_TAG` ends in `.localhost`.',
    default: (surroundings) => (isLocal(surroundings) ? '*' : undefined),
    shownDefault: '`*` when `BASE_ID_TAG` ends in `.localhost`, else none',
    parse: (text) => (text === '*' ? text : read.listOf(read.origin)(text)),
  },
  TRUSTED_PROXIES: {
    group: 'HTTP',
    meaning: 'Addresses or networks of the reverse proxies whose `X-Forwarded-*` headers count.',
    parse: read.listOf(network),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    group: 'HTTP',
    meaning:
      'Connections that one address (of IPv6 a /64) may have open, and requests that one named by a trusted proxy may have under way. WebSockets have bounds of their own.',
    default: '200',
    parse: read.countFrom1,
  },
  MAX_CONNECTIONS: {
    group: 'HTTP',
    meaning:
      'Connections that all addresses together may have open. The process needs as many file descriptors.',
    default: '10000',
    parse: read.countFrom1,
  },
  DNS_LISTEN: {
    group: 'Federation',
    meaning:
      "Addresses, each with its port, UDP and TCP, on which the identity providers' names are answered as DNS. Without it none are.",
    parse: read.listOf(read.listenAddress),
  },
  METRICS_LISTEN: {
    group: 'Logs and metrics',
    meaning: 'Address and port of its own for `/metrics`. Without it `/metrics` answers on loopback only.',
    parse: read.listenAddress,
  },
  LOG_LEVEL: {
    group: 'Logs and metrics',
    meaning:
      'Least severe level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`.',
    default: 'info',
    parse: read.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  LOG_FORMAT: {
    group: 'Logs and metrics',
    meaning: '`json`, one object per line on stderr, or `pretty` for people.',
    default: ({ isTerminal }) => (isTerminal ? 'pretty' : 'json'),
    shownDefault: '`json`, on a terminal `pretty`',
    parse: read.oneOf('json', 'pretty'),
  },
} as const satisfies Readonly<Record<string, Variable>>

export type VariableName = keyof typeof variables

type Table = typeof variables
type HasDefault = { readonly default: string | ((surroundings: Surroundings) => string) }

/** What the variables say; undefined where one is absent and has no default. */
export type Values = {
  readonly [Name in VariableName]: Parsed<Table[Name]> | (Table[Name] extends HasDefault ? never : undefined)
}
