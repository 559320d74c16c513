import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IdTagInput, IsoTime, Words } from '../schemas.ts'

const admin = { tag: 'Administration', auth: 'required', unscoped: true, role: 'SADM' } as const
const params = Type.Object({
  siteId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The number of a site' }),
})

const HeaderMap = Type.Record(
  Type.String({ minLength: 1, maxLength: 100 }),
  Type.String({ maxLength: 1000 }),
  { maxProperties: 50 },
)

/** How a site is served. The last four members are for sites of the type `advanced`. */
export const ProxySiteConfig = Type.Object(
  {
    preserveHost: Type.Optional(
      Type.Boolean({
        description: 'The backend is told the visitor’s host, and not its own; true when absent',
      }),
    ),
    connectTimeoutSecs: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 60, description: '5 when absent' }),
    ),
    readTimeoutSecs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        description: 'How long nothing may move between visitor and backend; 60 when absent',
      }),
    ),
    websocket: Type.Optional(Type.Boolean({ description: 'true when absent' })),
    requestHeaders: Type.Optional(HeaderMap),
    responseHeaders: Type.Optional(HeaderMap),
    stripPrefix: Type.Optional(
      Type.String({ pattern: '^(?:/[A-Za-z0-9._~-]+)+$', maxLength: 200, examples: ['/app'] }),
    ),
    healthPath: Type.Optional(
      Type.String({ pattern: '^/[\\x21\\x22\\x24-\\x7e]*$', maxLength: 500, examples: ['/health'] }),
    ),
  },
  // One that is mistyped would be lost, and the former one with it.
  { additionalProperties: false },
)
export type ProxySiteConfig = Static<typeof ProxySiteConfig>

/** A site whose requests this server passes on to a backend. */
export const ProxySiteView = Type.Object({
  siteId: Type.Integer(),
  domain: Type.String(),
  backendUrl: Type.String(),
  status: Words(['A', 'D']),
  type: Words(['basic', 'advanced']),
  certExpiresAt: Type.Optional(IsoTime),
  config: ProxySiteConfig,
  health: Type.Optional(
    Words(['up', 'down', 'unknown'], {
      description:
        'What the last check of `healthPath` found on the process that answers; absent where there is no such path',
    }),
  ),
  createdAt: IsoTime,
  updatedAt: IsoTime,
})
export type ProxySiteView = Static<typeof ProxySiteView>

const BackendUrl = Type.String({
  minLength: 8,
  maxLength: 500,
  description: 'Scheme (http or https), host and port, nothing else; private addresses may be named',
  examples: ['http://10.0.0.5:3000'],
})
const SiteType = Words(['basic', 'advanced'])

export const listProxySites = contract({
  ...admin,
  name: 'listProxySites',
  method: 'GET',
  path: '/api/admin/proxy-sites',
  summary: 'The proxy sites of this server, by domain',
  reply: { kind: 'data', status: 200, schema: Type.Array(ProxySiteView) },
  errors: [],
})

export const createProxySite = contract({
  ...admin,
  name: 'createProxySite',
  method: 'POST',
  path: '/api/admin/proxy-sites',
  summary: 'Pass all requests for a domain on to a backend',
  body: {
    kind: 'json',
    schema: Type.Object({
      domain: IdTagInput,
      backendUrl: BackendUrl,
      type: Type.Optional(SiteType),
      config: Type.Optional(ProxySiteConfig),
    }),
  },
  reply: { kind: 'data', status: 201, schema: ProxySiteView },
  errors: ['E-DUPLICATE', 'E-STATE'],
  example: { body: { domain: 'wiki.example.com', backendUrl: 'http://10.0.0.5:3000' } },
})

export const getProxySite = contract({
  ...admin,
  name: 'getProxySite',
  method: 'GET',
  path: '/api/admin/proxy-sites/{siteId}',
  summary: 'A proxy site',
  params,
  reply: { kind: 'data', status: 200, schema: ProxySiteView },
  errors: ['E-NOTFOUND'],
})

export const updateProxySite = contract({
  ...admin,
  name: 'updateProxySite',
  method: 'PATCH',
  path: '/api/admin/proxy-sites/{siteId}',
  summary: 'Change a proxy site, or disable it (`D`): its domain is unknown then',
  description: '`config` takes the place of the former one as a whole.',
  params,
  body: {
    kind: 'json',
    schema: Type.Object({
      backendUrl: Type.Optional(BackendUrl),
      status: Type.Optional(Words(['A', 'D'])),
      type: Type.Optional(SiteType),
      config: Type.Optional(ProxySiteConfig),
    }),
  },
  reply: { kind: 'data', status: 200, schema: ProxySiteView },
  errors: ['E-NOTFOUND'],
})

export const deleteProxySite = contract({
  ...admin,
  name: 'deleteProxySite',
  method: 'DELETE',
  path: '/api/admin/proxy-sites/{siteId}',
  summary: 'Remove a proxy site',
  params,
  reply: { kind: 'empty', status: 204 },
  errors: ['E-NOTFOUND'],
})

export const renewProxySiteCert = contract({
  ...admin,
  name: 'renewProxySiteCert',
  method: 'POST',
  path: '/api/admin/proxy-sites/{siteId}/renew-cert',
  summary: 'Renew the certificate of a proxy site now',
  description:
    '503 where the server does not get certificates itself, where the site is disabled, and while the authority limits how much it issues.',
  params,
  reply: { kind: 'data', status: 200, schema: ProxySiteView },
  errors: ['E-NOTFOUND', 'E-UNAVAILABLE'],
})

export const proxySiteContracts = [
  listProxySites,
  createProxySite,
  getProxySite,
  updateProxySite,
  deleteProxySite,
  renewProxySiteCert,
]
