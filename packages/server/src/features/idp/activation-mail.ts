import { randomBytes } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import {
  type AccountMailDeps,
  countMailbox,
  findReferenceByHash,
  type MakeReferenceDeps,
  mailJobPolicy,
  mailLanguage,
  makeReference,
  referenceHash,
  renderMail,
  sendFromJob,
} from '#features/accounts/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type JobContext, type Jobs, jobKind } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { type ManagedIdentity, referenceSecs } from './managed-identity.ts'
import { findIdentity } from './managed-identity-store.ts'

/** The mail with which an identity is activated. It names the reference by its hash: the queue holds no secret. */
export const activationMailJob = jobKind({
  name: 'idp.activation-mail',
  payload: Type.Object({
    mailId: Type.String(),
    idTag: Type.Unsafe<IdTag>(Type.String()),
    refHash: Type.String(),
    lang: Type.Optional(Type.String()),
  }),
  ...mailJobPolicy,
})

/** Makes the reference by which the owner takes over an identity, and queues the mail with it. Where no mail can be sent,
 * because there is no address or its mailbox has had too many, an owner with an account here finds the reference among
 * their own. The registrar is not told that, because it would reveal what others have sent to the mailbox. */
export async function inviteOwner(
  deps: MakeReferenceDeps & { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  { identity, lang }: { identity: ManagedIdentity; lang: string | undefined },
): Promise<void> {
  const { idTag, email, ownerTag } = identity
  const isMailed = email !== undefined && (await countMailbox(deps, tx, email)) === undefined
  if (!isMailed && ownerTag === undefined) return
  const { refId } = await makeReference(deps, tx, {
    type: 'idp-activate',
    resourceId: idTag,
    description: idTag,
    expiresAt: nowSecs(deps.clock) + referenceSecs,
    ...(isMailed || ownerTag === undefined ? {} : { createdBy: ownerTag }),
  })
  if (!isMailed) return
  await deps.jobs.enqueue(tx, activationMailJob, {
    mailId: randomBytes(12).toString('hex'),
    idTag,
    refHash: referenceHash(refId),
    ...(lang === undefined ? {} : { lang }),
  })
}

/** Does the work of `activationMailJob`; nothing once the identity is activated or gone. */
export async function sendActivationMail(
  deps: AccountMailDeps,
  payload: Static<(typeof activationMailJob)['payload']>,
  { tenantId }: JobContext,
): Promise<void> {
  const { mailId, idTag, refHash, lang } = payload
  const reader = deps.db.reader(tenantId)
  const tenant = await deps.tenants.findById(tenantId)
  const identity = await findIdentity(reader, idTag)
  const reference = await findReferenceByHash(deps.vault, reader, refHash)
  if (!tenant || identity?.status !== 'pending' || identity.email === undefined) return
  if (!reference || reference.count === 0) return
  const mail = renderMail('idp-activate', mailLanguage(lang ?? (await deps.findLanguage(tenantId))), {
    idTag,
    ...(identity.ownerTag === undefined ? {} : { owner: identity.ownerTag }),
    link: activationLink(deps.serverUrlOf(tenant), reference.refId),
    ...(reference.expiresAt === undefined ? {} : { untilSecs: reference.expiresAt }),
  })
  const messageId = `<${mailId}@${tenant.idTag}>`
  await sendFromJob(deps, { to: identity.email, messageId, ...mail })
}

/** The page of the provider on which an identity is activated. The token is a fragment: it reaches neither logs nor
 * `Referer`. */
function activationLink(serverUrl: string, refId: string): string {
  return `${serverUrl}/activate#token=${refId}`
}
