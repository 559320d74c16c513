import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, ProfileParam, TimestampInput, Words } from '../schemas.ts'
import { profileStatuses } from './profiles.ts'

const tag = 'Administration'

export const AdminProfile = Type.Object({
  idTag: Type.String(),
  name: Type.String(),
  status: Words(profileStatuses),
  roles: Type.Array(Type.String()),
  banExpiresAt: Type.Optional(IsoTime),
  banReason: Type.Optional(Type.String()),
})
export type AdminProfile = Static<typeof AdminProfile>

export const updateAdminProfile = contract({
  name: 'updateAdminProfile',
  method: 'PATCH',
  path: '/api/admin/profiles/{idTag}',
  tag,
  summary: 'Change what an identity is and may do, on the whole server or in a community',
  description: [
    'On the base tenant’s host an administrator decides for the whole server: the `status` of any identity, the name of a tenant, and with `roles` who is an administrator (`SADM`; only the base tenant’s owner may change it).',
    'On a community’s host leaders change the roles and the status of any member, and moderators the status of members below them. Of `roles` the highest counts; none, or `public`, removes the identity from the community. One leader always remains.',
    '`Blocked`: nothing from it is taken, and it reads what is public. `Muted`: left out of lists. `Suspended` and `Banned`: both, and a tenant of this server answers nobody; with `banExpiresAt` this ends by itself. `Trusted` is shown and changes nothing.',
  ].join('\n\n'),
  auth: 'required',
  unscoped: true,
  role: 'moderator',
  orAdmin: true,
  params: Type.Object({ idTag: ProfileParam }),
  body: {
    kind: 'json',
    schema: Type.Object({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      status: Type.Optional(Words(profileStatuses)),
      roles: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
      banExpiresAt: Type.Optional(TimestampInput),
      banReason: Type.Optional(Type.String({ maxLength: 500 })),
    }),
  },
  reply: { kind: 'data', status: 200, schema: AdminProfile },
  errors: ['E-PROFILE-NOTFOUND', 'E-AUTH-FORBIDDEN', 'E-STATE', 'E-UNAVAILABLE'],
  example: { body: { status: 'Banned', banReason: 'Spam', banExpiresAt: '2026-12-31T00:00:00Z' } },
})

export const sendPasswordReset = contract({
  name: 'sendPasswordReset',
  method: 'POST',
  path: '/api/admin/tenants/{idTag}/password-reset',
  tag,
  summary: 'Mail a tenant a link with which to set a new password',
  description:
    'The link works for 24 hours. `sent` is false where there is no account, or no address to mail to. 409 for a tenant that is being removed or imported.',
  auth: 'required',
  unscoped: true,
  role: 'SADM',
  params: Type.Object({ idTag: ProfileParam }),
  reply: { kind: 'data', status: 200, schema: Type.Object({ sent: Type.Boolean() }) },
  errors: ['E-PROFILE-NOTFOUND', 'E-STATE'],
})

export const adminProfileContracts = [updateAdminProfile, sendPasswordReset]
