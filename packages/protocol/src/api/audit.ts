import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime, JsonObject, pageQuery } from '../schemas.ts'

/** One line of a tenant's audit trail. */
export const AuditEntryView = Type.Object({
  id: Type.String(),
  event: Type.String({ examples: ['session.started', 'password.changed'] }),
  createdAt: IsoTime,
  actorTag: Type.Optional(Type.String({ description: 'Who did it, where that is known' })),
  ipAddress: Type.Optional(Type.String()),
  details: JsonObject,
})
export type AuditEntryView = Static<typeof AuditEntryView>

export const getAuditLog = contract({
  name: 'getAuditLog',
  method: 'GET',
  path: '/api/audit',
  tag: 'Audit',
  summary: 'What happened to this tenant’s account in the last 180 days, newest first',
  auth: 'required',
  unscoped: true,
  role: 'leader',
  query: Type.Object({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  reply: { kind: 'list', status: 200, schema: AuditEntryView },
  errors: [],
})

export const auditContracts = [getAuditLog]
