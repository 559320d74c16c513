import type { AccountEvent } from '#features/accounts/index.ts'
import { type ActionEvent, withdrawSignedLater } from '#features/actions/index.ts'
import { busReactions, type TellingBus } from '#features/bus/index.ts'
import { type IdentityEvent, queueReceivedHistory } from '#features/federation/index.ts'
import type { FileEvent } from '#features/files/index.ts'
import { learnOfIssuer, type ProfileEvent } from '#features/profiles/index.ts'
import type { RelationEvent } from '#features/relations/index.ts'
import type { SettingEvent } from '#features/settings/index.ts'
import { resumeNamed, type TenantEvent } from '#features/tenants/index.ts'
import type { Reactions } from '#infra/events/index.ts'
import { forgetting } from './forgetting.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { forgetSetUpLink } from './set-up-link.ts'

/** The events of all features. */
export type AppEvent =
  | AccountEvent
  | ActionEvent
  | FileEvent
  | IdentityEvent
  | ProfileEvent
  | RelationEvent
  | SettingEvent
  | TenantEvent

interface Reacting {
  readonly identity: Pick<IdentityFeatures, 'authenticator' | 'tenants' | 'emit'>
  readonly bus: TellingBus
}

/** The reactions to each event, in the transaction of the event and in this order. */
export function reactionsOf(services: Services, { identity, bus }: Reacting): Reactions<AppEvent> {
  const { clock, jobs } = services
  const { tenants, emit } = identity
  const tell = busReactions(bus)
  const { forgetRole, forgetCredentials } = forgetting(identity.authenticator)
  return {
    'action.created': [tell.tellOfAction],
    'action.received': [
      (tx, { tenant, action: { issuerTag } }) => learnOfIssuer({ clock, jobs }, tx, { tenant, issuerTag }),
      (tx, { action }) => queueReceivedHistory({ jobs }, tx, action),
      tell.tellOfAction,
    ],
    'action.changed': [tell.tellOfAction],
    'action.deleted': [tell.tellOfAction],
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
    'password.set': [(tx, { tenant }) => tx.afterCommit(() => forgetSetUpLink(services, tenant.idTag))],
    'relation.changed': [forgetRole],
    'standing.ended': [(tx, { idTag }) => resumeNamed({ tenants, clock, emit }, tx, idTag)],
    'admin.changed': [forgetRole],
    'key.revoked': [
      (tx, { idTag, kid, since }) => withdrawSignedLater({ jobs }, tx, { issuerTag: idTag, kid, since }),
    ],
  }
}
