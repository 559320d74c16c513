import type { AccountEvent } from '#features/accounts/index.ts'
import {
  type ActionChange,
  type ActionEvent,
  changesRoles,
  withdrawSignedLater,
} from '#features/actions/index.ts'
import { busReactions, type TellingBus } from '#features/bus/index.ts'
import { type IdentityEvent, queueReceivedHistory } from '#features/federation/index.ts'
import type { FileEvent } from '#features/files/index.ts'
import { learnOfIssuer, type ProfileEvent } from '#features/profiles/index.ts'
import type { RelationEvent } from '#features/relations/index.ts'
import type { SettingEvent } from '#features/settings/index.ts'
import { resumeNamed } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Reactions } from '#infra/events/index.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { removeSetUpLink } from './set-up-link.ts'

/** Everything that rooms say has happened. */
export type AppEvent =
  | AccountEvent
  | ActionEvent
  | FileEvent
  | IdentityEvent
  | ProfileEvent
  | RelationEvent
  | SettingEvent

interface Reacting {
  readonly identity: Pick<IdentityFeatures, 'authenticator' | 'tenants'>
  readonly bus: TellingBus
}

/** Who reacts to what, in the transaction of the event and in this order. */
export function reactionsOf(services: Services, { identity, bus }: Reacting): Reactions<AppEvent> {
  const { clock, jobs } = services
  const { tenants } = identity
  const tell = busReactions(bus)
  const { forgetRoles, forgetCredentials, forgetCaller } = forgetting(identity)
  return {
    'action.created': [forgetRoles, tell.tellOfAction],
    'action.received': [
      forgetRoles,
      (tx, { tenant, action: { issuerTag } }) => learnOfIssuer({ clock, jobs }, tx, { tenant, issuerTag }),
      (tx, { action }) => queueReceivedHistory({ jobs }, tx, action),
      tell.tellOfAction,
    ],
    'action.changed': [forgetRoles, tell.tellOfAction],
    'action.deleted': [forgetRoles, tell.tellOfAction],
    'action.counted': [tell.passCounts],
    'file.created': [tell.tellOfFile],
    'file.updated': [tell.tellOfFile],
    'file.deleted': [tell.tellOfFile],
    'file.shared': [tell.tellOfShare],
    'file.unshared': [tell.tellOfShare],
    'profile.changed': [tell.tellOfProfile],
    'setting.changed': [tell.tellOfSetting],
    'session.signed-in': [tell.passSession],
    'session.revoked': [tell.passSession],
    'credentials.forgotten': [forgetCredentials],
    'password.set': [(tx, { tenant }) => tx.afterCommit(() => forgetSetUpLink(services, tenant))],
    'standing.ended': [(tx, { idTag }) => resumeNamed({ tenants, clock }, tx, idTag), forgetCaller],
    'key.revoked': [
      (tx, { idTag, kid, since }) => withdrawSignedLater({ jobs }, tx, { issuerTag: idTag, kid, since }),
    ],
  }
}

/** Drops cached roles and credentials when the rows that they were read from change. */
function forgetting({ authenticator }: Reacting['identity']) {
  return {
    forgetRoles(tx: Writer, event: ActionChange): void {
      if (changesRoles(event)) tx.afterCommit(() => authenticator.forget(event.tenant.tenantId))
    },
    forgetCredentials(tx: Writer, { sid }: { readonly sid: string | undefined }): void {
      const { tenantId } = tx
      tx.afterCommit(() => authenticator.forget(tenantId, sid))
    },
    forgetCaller(tx: Writer, { idTag }: RelationEvent): void {
      const { tenantId } = tx
      tx.afterCommit(() => {
        authenticator.forget(tenantId)
        authenticator.forgetCaller(idTag)
      })
    },
  }
}

/** A set-up link that was used need not lie about. */
function forgetSetUpLink({ config, logger }: Services, { idTag }: Tenant): void {
  if (idTag !== config.baseIdTag) return
  removeSetUpLink(config.dataDir).catch((error: unknown) =>
    logger.warn({ err: error }, 'the file of the set-up link could not be removed'),
  )
}
