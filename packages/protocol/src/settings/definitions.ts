import { visibilityCodes } from '../visibility-codes.ts'
import { define, type SettingDefinition } from './setting-definition.ts'

const hourSecs = 3600
const daySecs = 24 * hourSecs
// A server's secret is kept this long after it was replaced: a token that lives longer could not be checked.
const longestTokenSecs = 30 * daySecs

const lifetime = (secs: number, maximum: number, sentence: string) =>
  define({
    scope: 'global',
    permission: 'admin',
    type: { type: 'integer', minimum: 60, maximum },
    default: secs,
    sentence,
  })

const ofServer = { scope: 'global', permission: 'admin' } as const
const ofTenant = { scope: 'tenant', permission: 'user' } as const
const serverWide = { ...ofServer, isServerWide: true } as const
const dns = { ...serverWide, isAdminOnly: true } as const
const hostLabel = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const hostName = `(${hostLabel}\\.)+${hostLabel}`
const byte = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const ipv4 = `${byte}(\\.${byte}){3}`
const ipv6 = '[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}'
const ipAddress = `(${ipv4}|${ipv6})`
const network = `(${ipv4}(/(3[0-2]|[12]?[0-9]))?|${ipv6}(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)`
// Who names the mail server reads the links in mails, also the one that sets the owner's password, and is sent the
// password of the mail server before.
const mailing = { ...serverWide, isAdminOnly: true, isOwnerOnly: true } as const

// Names that programs look for by themselves, that certificates and mail are proven with, or that seem to speak for the
// server.
const reservedNames = [
  ...['www', 'api', 'app', 'admin', 'administrator', 'root', 'system', 'server', 'localhost'],
  ...['mail', 'smtp', 'imap', 'pop', 'pop3', 'mx', 'webmail', 'autoconfig', 'autodiscover'],
  ...['ns', 'ns1', 'ns2', 'ns3', 'ns4', 'dns', 'ftp', 'wpad', 'isatap', 'mta-sts', 'openpgpkey'],
  ...['postmaster', 'hostmaster', 'webmaster', 'abuse', 'security', 'support', 'help', 'info', 'noreply'],
  ...['auth', 'login', 'account', 'register', 'idp', 'status', 'static', 'assets', 'cdn'],
]

const push = (isOn: boolean, what: string) =>
  define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: isOn,
    sentence: `Push notifications about ${what}.`,
  })

/** Every setting with a meaning to the server or to all clients, by name, as JSON: the server holds to it, its documentation is
 * made from it, and clients can make forms of it. */
export const settingDefinitions = {
  theme: define({
    ...ofTenant,
    type: { type: 'string', maxLength: 64 },
    default: 'default',
    sentence: 'Name of the look that clients use.',
  }),
  language: define({
    ...ofTenant,
    type: { type: 'string', pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$', maxLength: 35 },
    default: 'en',
    sentence: 'Language of mails and of clients (BCP 47).',
  }),
  fontSize: define({
    ...ofTenant,
    type: {
      anyOf: [
        { type: 'number', minimum: 1, maximum: 200 },
        { type: 'string', maxLength: 32 },
      ],
    },
    default: 16,
    sentence: 'Size of text in clients: pixels, or a word that the client knows.',
  }),
  notifications: define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: true,
    sentence: 'Whether clients show notifications.',
  }),
  darkMode: define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: false,
    sentence: 'Whether clients are light on dark.',
  }),
  'profile.default_visibility': define({
    ...ofTenant,
    type: { type: 'string', enum: visibilityCodes },
    default: 'P',
    sentence:
      'Who may read a POST, REPOST or SHRE that says nothing of it: `P` everyone, `V` who is signed in, `F` followers, `C` connections.',
  }),
  'privacy.open_messages': define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: false,
    sentence: 'Take messages from identities that the tenant neither follows nor is connected with.',
  }),
  'privacy.read_receipts': define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: true,
    sentence: 'Clients tell who wrote a message that it was read (ACK).',
  }),
  'privacy.open_wall': define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: false,
    sentence:
      'Take a POST, SHRE or REPOST addressed to the tenant from identities that it neither follows nor is connected with. Until they are connected the owner alone sees it.',
  }),
  'file.image_format': define({
    ...ofTenant,
    type: { type: 'string', enum: ['webp', 'avif'] },
    default: 'webp',
    sentence: 'Format of the pictures made from an uploaded image.',
  }),
  'notify.push.message': push(true, 'direct messages'),
  'notify.push.mention': push(true, 'mentions'),
  'notify.push.reaction': push(false, 'reactions'),
  'notify.push.connection': push(true, 'connection requests'),
  'notify.push.follow': push(true, 'new followers'),
  'notify.push.file_share': push(true, 'shared files'),
  'notify.push.comment': push(true, 'comments'),
  'notify.push.show_text': define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: true,
    sentence: 'Push notifications show the begin of the text that they are about.',
  }),
  'idp.enabled': define({
    ...ofTenant,
    type: { type: 'boolean' },
    default: false,
    sentence: 'Be an identity provider: give names below the tenant’s own to others.',
  }),
  'idp.name': define({
    ...ofTenant,
    type: { type: 'string', maxLength: 100 },
    default: '',
    sentence: 'What the identity provider is called; empty: like the tenant’s identity.',
  }),
  'idp.info': define({
    ...ofTenant,
    type: { type: 'string', maxLength: 2000 },
    default: '',
    sentence: 'What the identity provider says of itself to those who look for a name.',
  }),
  'idp.url': define({
    ...ofTenant,
    type: { type: 'string', pattern: '^(https?://[^\\s]+)?$', maxLength: 500 },
    default: '',
    sentence: 'Page with more about the identity provider, such as its terms; empty: none.',
  }),
  'idp.server_url': define({
    ...ofTenant,
    type: { type: 'string', pattern: '^https?://\\{idTag\\}(:[0-9]{1,5})?$', maxLength: 40 },
    default: 'https://{idTag}',
    sentence:
      'Where the server of a name that the identity provider gave answers, in the DNS records of the name: `{idTag}` is the name.',
  }),
  'dns.name_servers': define({
    ...dns,
    isOwnerOnly: true,
    type: {
      type: 'array',
      items: { type: 'string', pattern: `^${hostName}( ${ipAddress}){0,4}$`, maxLength: 400 },
      maxItems: 13,
    },
    default: [],
    sentence:
      'Name servers of the identity providers’ zones: each a host name, and after spaces its addresses where the name lies in such a zone; without, `LOCAL_ADDRESSES`. Empty: `ns1` in each zone, with `LOCAL_ADDRESSES`.',
  }),
  'dns.hostmaster': define({
    ...dns,
    type: {
      type: 'string',
      pattern: `^((?=[^@]{1,63}@)[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@${hostName})?$`,
      maxLength: 200,
    },
    default: '',
    sentence:
      'Mail address in the SOA records of the identity providers’ zones; empty: `hostmaster` in each zone.',
  }),
  'dns.caa': define({
    ...dns,
    type: {
      type: 'array',
      items: {
        type: 'string',
        pattern: '^(0|128) (issue|issuewild|issuemail|iodef) ("[ !#-~]{1,200}"|[!#-~][ !#-~]{0,199})$',
      },
      maxItems: 10,
    },
    default: [],
    sentence:
      'CAA records of the identity providers’ zones: who may issue certificates for their names, such as `0 issue letsencrypt.org`.',
  }),
  'dns.transfer_networks': define({
    ...dns,
    type: {
      type: 'array',
      items: { type: 'string', pattern: `^${network}$` },
      maxItems: 50,
    },
    default: [],
    sentence: 'Addresses and networks of the secondaries to which zones are transferred.',
  }),
  'dns.notify': define({
    ...dns,
    type: {
      type: 'array',
      items: { type: 'string', pattern: `^${ipAddress}(@[1-9][0-9]{0,4})?$` },
      maxItems: 20,
    },
    default: [],
    sentence:
      'Secondaries that are told of changes (NOTIFY): addresses, with `@PORT` where it is not 53. Empty: the addresses in `dns.transfer_networks`.',
  }),
  'dns.transfer_key': define({
    ...dns,
    type: {
      type: 'string',
      pattern: `^(hmac-sha256:${hostLabel}(\\.${hostLabel})*:[A-Za-z0-9+/]{22,512}={0,2})?$`,
      maxLength: 800,
    },
    default: '',
    sentence:
      'Key with which secondaries sign (TSIG), as `hmac-sha256:NAME:BASE64`; empty: their address is enough.',
    isSecret: true,
  }),
  'limits.max_storage_gb': define({
    ...ofServer,
    type: { type: 'number', minimum: 0, maximum: 1_000_000 },
    default: 10,
    sentence: 'Storage of each tenant in GiB; 0 is without limit.',
  }),
  'limits.max_file_mb': define({
    ...ofServer,
    type: { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000 },
    default: 100,
    sentence: 'Size of the largest file in MiB.',
  }),
  'limits.disk_reserve_mb': define({
    ...serverWide,
    isAdminOnly: true,
    type: { type: 'number', minimum: 0, maximum: 1_000_000 },
    default: 512,
    sentence:
      'Free space in MiB that files leave on the server’s disk for its database; below a quarter of it, nothing but deletions is stored. 0 keeps none.',
  }),
  'limits.max_setting_kb': define({
    scope: 'system',
    permission: 'system',
    type: { type: 'integer' },
    default: 16,
    sentence: 'Size of the largest value of a setting in KiB.',
  }),
  'limits.max_tenants': define({
    ...serverWide,
    type: { type: 'integer', minimum: 0, maximum: 10_000_000 },
    default: 0,
    sentence:
      'How many tenants this server may have before registration and new communities are refused; 0 is without limit.',
  }),
  'server.registration': define({
    ...serverWide,
    type: { type: 'string', enum: ['invite', 'open'] },
    default: 'invite',
    sentence:
      'Who may register: people with an invitation of the base tenant (`invite`), or everybody (`open`).',
  }),
  'idp.reserved_names': define({
    ...serverWide,
    isAdminOnly: true,
    type: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9-]{1,63}$' }, maxItems: 500 },
    default: reservedNames,
    sentence:
      'Reserved names below the domain of the server or of an identity provider; names that look like them are refused as well.',
  }),
  'community.creation': define({
    ...serverWide,
    type: { type: 'string', enum: ['invite', 'open'] },
    default: 'invite',
    sentence:
      'Who may make communities: persons of this server with an invitation (`invite`), or all of them (`open`).',
  }),
  'auth.require_verified_email': define({
    ...ofServer,
    type: { type: 'boolean' },
    default: false,
    sentence: 'Refuse the password of an account whose e-mail address is not verified.',
  }),
  'auth.login_token_secs': lifetime(daySecs, longestTokenSecs, 'Life of a login token, in seconds.'),
  'auth.session_secs': lifetime(
    30 * daySecs,
    365 * daySecs,
    'Time from signing in to the last renewal of the login token, in seconds.',
  ),
  'auth.access_token_secs': lifetime(hourSecs, longestTokenSecs, 'Life of an access token, in seconds.'),
  'auth.reference_token_secs': lifetime(
    daySecs,
    longestTokenSecs,
    'Longest life of a token that was got with a reference, in seconds.',
  ),
  'auth.proxy_token_secs': lifetime(
    300,
    hourSecs,
    'Life of a proxy token, in seconds; other servers refuse more than an hour.',
  ),
  'email.smtp.host': define({
    ...mailing,
    type: { type: 'string', pattern: '^[A-Za-z0-9.-]*$', maxLength: 253 },
    default: '',
    sentence: 'Mail server, where the environment names none with `SMTP_URL`; empty: mails are files.',
  }),
  'email.smtp.port': define({
    ...mailing,
    type: { type: 'integer', minimum: 1, maximum: 65_535 },
    default: 465,
    sentence: 'Its port; 465 is TLS from the beginning, with others a password waits for STARTTLS.',
  }),
  'email.smtp.username': define({
    ...mailing,
    type: { type: 'string', maxLength: 320 },
    default: '',
    sentence: 'Name with which to sign in there; empty: without.',
  }),
  'email.smtp.password': define({
    ...mailing,
    type: { type: 'string', maxLength: 1024 },
    default: '',
    sentence: 'Password with which to sign in there.',
    isSecret: true,
  }),
} as const satisfies Readonly<Record<string, SettingDefinition>>

export type SettingName = keyof typeof settingDefinitions
export type SettingValue<Name extends SettingName> = (typeof settingDefinitions)[Name]['default']
