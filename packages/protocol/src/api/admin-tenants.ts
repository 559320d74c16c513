import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, ProfileParam, pageQuery, Words } from '../schemas.ts'

const tag = 'Administration'
const forAdmins = { auth: 'required', unscoped: true, role: 'SADM' } as const
const params = Type.Object({ idTag: ProfileParam })

/** A tenant as an administrator of the server sees it: what it takes up, nothing of what it contains. */
export const AdminTenant = Type.Object({
  tnId: Type.Integer(),
  idTag: Type.String(),
  name: Type.String(),
  type: Words(['person', 'community']),
  isBase: Type.Boolean(),
  profilePic: Type.Optional(Type.String()),
  createdAt: IsoTime,
  status: Words(['active', 'suspended']),
  suspendedAt: Type.Optional(IsoTime),
  lastSignInAt: Type.Optional(IsoTime),
  usedBytes: Type.Integer(),
  files: Type.Integer(),
})
export type AdminTenant = Static<typeof AdminTenant>

export const listTenants = contract({
  name: 'listTenants',
  method: 'GET',
  path: '/api/admin/tenants',
  tag,
  summary: 'The tenants of this server by identity, with what they take up',
  ...forAdmins,
  query: Type.Object({
    ...pageQuery,
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'A part of the identity or of the name, without case and accents',
      }),
    ),
  }),
  reply: { kind: 'list', status: 200, schema: AdminTenant },
  errors: [],
})

export const suspendTenant = contract({
  name: 'suspendTenant',
  method: 'POST',
  path: '/api/admin/tenants/{idTag}/suspend',
  tag,
  summary: 'Suspend a tenant: its sessions end, it answers nobody, and nothing is removed',
  ...forAdmins,
  params,
  reply: { kind: 'data', status: 200, schema: AdminTenant },
  errors: ['E-PROFILE-NOTFOUND', 'E-STATE'],
})

export const resumeTenant = contract({
  name: 'resumeTenant',
  method: 'POST',
  path: '/api/admin/tenants/{idTag}/resume',
  tag,
  summary: 'End the suspension or the ban of a tenant; people sign in anew',
  description:
    'Nothing changes for a tenant that is neither suspended nor banned: it is answered as it is, and stays muted, blocked or trusted. 409 while it is being removed or imported.',
  ...forAdmins,
  params,
  reply: { kind: 'data', status: 200, schema: AdminTenant },
  errors: ['E-PROFILE-NOTFOUND', 'E-STATE'],
})

export const purgeTenant = contract({
  name: 'purgeTenant',
  method: 'POST',
  path: '/api/admin/tenants/{idTag}/purge',
  tag,
  summary: 'Remove a tenant with everything that belongs to it, in two calls',
  description:
    'Without a body nothing happens: the answer has `confirm`, good for ten minutes, and what would go. With `{confirm}` the tenant is suspended and removed in the background; this cannot be undone. 409 to either call for the only leader of a community (`details.communities`), and for a tenant that is being removed or imported.',
  ...forAdmins,
  params,
  body: {
    kind: 'json',
    optional: true,
    schema: Type.Object({ confirm: Type.Optional(Type.String({ maxLength: 500 })) }),
  },
  reply: {
    kind: 'data',
    status: 200,
    schema: Type.Object({
      tenant: AdminTenant,
      isBegun: Type.Boolean(),
      confirm: Type.Optional(Type.String()),
      expiresAt: Type.Optional(IsoTime),
    }),
  },
  errors: ['E-PROFILE-NOTFOUND', 'E-STATE', 'E-GONE'],
})

export const testEmail = contract({
  name: 'testEmail',
  method: 'POST',
  path: '/api/admin/email/test',
  tag,
  summary: 'Send a mail now and tell how far it got',
  description:
    'Where it is not sent: 503 with `details {stage, message}`, the stage being `config`, `dns`, `connect`, `tls`, `auth` or `send`.',
  ...forAdmins,
  bucket: 'recovery',
  body: { kind: 'json', schema: Type.Object({ to: Type.String({ minLength: 3, maxLength: 254 }) }) },
  reply: { kind: 'data', status: 200, schema: Type.Object({ sent: Type.Boolean() }) },
  errors: ['E-UNAVAILABLE'],
})

export const adminTenantContracts = [listTenants, suspendTenant, resumeTenant, purgeTenant, testEmail]
