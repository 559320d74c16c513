import {
  type AccountEvent,
  logOutEverywhere,
  logOutOfBlocked,
  logOutSession,
} from '#features/accounts/index.ts'
import { type ActionEvent, withdrawSignedLater } from '#features/actions/index.ts'
import { dropOffer, noteOffer } from '#features/apps/index.ts'
import { busReactions, type TellingBus } from '#features/bus/index.ts'
import { noteNameChange } from '#features/certificates/index.ts'
import { type ConversationEvent, noteMessage } from '#features/conversations/index.ts'
import { type IdentityEvent, queueReceivedHistory } from '#features/federation/index.ts'
import { type FileEvent, isPictureLost } from '#features/files/index.ts'
import type { ManagedNameEvent, ProviderZones } from '#features/idp/index.ts'
import { dropLostPictures, learnOfIssuer, type ProfileEvent } from '#features/profiles/index.ts'
import { queueNotification, removeSubscriptionsOfSession } from '#features/push/index.ts'
import type { RelationEvent } from '#features/relations/index.ts'
import type { SettingEvent } from '#features/settings/index.ts'
import { resumeNamed, type TenantEvent } from '#features/tenants/index.ts'
import { getsCertificates } from '#infra/config/index.ts'
import type { Reactions } from '#infra/events/index.ts'
import { forgetting } from './forgetting.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { forgetSetUpLink } from './set-up-link.ts'

/** The events of all features. */
export type AppEvent =
  | AccountEvent
  | ActionEvent
  | ConversationEvent
  | FileEvent
  | IdentityEvent
  | ManagedNameEvent
  | ProfileEvent
  | RelationEvent
  | SettingEvent
  | TenantEvent

interface Reacting {
  readonly identity: Pick<IdentityFeatures, 'authenticator' | 'tenants' | 'emit'>
  readonly bus: TellingBus
  readonly zones: Pick<ProviderZones, 'noteChange' | 'noteHosted' | 'noteSetting'>
}

/** The reactions to each event, in the transaction of the event and in this order. */
export function reactionsOf(services: Services, { identity, bus, zones }: Reacting): Reactions<AppEvent> {
  const { clock, jobs } = services
  const { tenants, emit } = identity
  const tell = busReactions(bus)
  const { forgetRole, forgetCredentials } = forgetting(identity.authenticator)
  return {
    ...actionReactions(services, identity, tell),
    'conversation.changed': [tell.tellOfConversation],
    'file.created': [tell.tellOfFile],
    'file.updated': [tell.tellOfFile],
    'file.deleted': [tell.tellOfFile, (tx) => dropLostPictures({ clock, emit, isPictureLost }, tx)],
    'file.shared': [tell.tellOfShare],
    'file.unshared': [tell.tellOfShare],
    'profile.changed': [tell.tellOfProfile],
    'setting.changed': [tell.tellOfSetting, zones.noteSetting],
    'hosted-name.added': [
      (tx, { idTag }) => zones.noteHosted(tx, idTag),
      (tx) => noteNameChange({ jobs, isOn: getsCertificates(services.config) }, tx),
    ],
    'hosted-name.changed': [(tx, { idTag }) => zones.noteHosted(tx, idTag)],
    'managed-name.changed': [(tx, { idTag }) => zones.noteChange(tx, idTag)],
    'session.signed-in': [tell.passSession],
    'session.revoked': [tell.passSession],
    'session.ended': [
      (tx, { sid }) => removeSubscriptionsOfSession(tx, sid),
      (tx, { sid }) => logOutSession({ jobs, clock }, tx, sid),
    ],
    'session.narrowed': [(tx, { sid }) => logOutSession({ jobs, clock }, tx, sid)],
    'credentials.forgotten': [forgetCredentials],
    'password.set': [(tx, { tenant }) => tx.afterCommit(() => forgetSetUpLink(services, tenant.idTag))],
    'relation.changed': [forgetRole, (tx, { idTag }) => logOutOfBlocked({ jobs, clock, emit }, tx, idTag)],
    'standing.ended': [(tx, { idTag }) => resumeNamed({ tenants, clock, emit }, tx, idTag)],
    'admin.changed': [forgetRole],
    'tenant.suspended': [(tx) => logOutEverywhere({ jobs, clock }, tx)],
    'key.revoked': [
      (tx, { idTag, kid, since }) => withdrawSignedLater({ jobs }, tx, { issuerTag: idTag, kid, since }),
    ],
  }
}

/** Those to what happens to actions. */
function actionReactions(
  { clock, jobs }: Services,
  { emit }: Reacting['identity'],
  tell: ReturnType<typeof busReactions>,
) {
  const keepConversation = noteMessage.bind(undefined, { emit })
  return {
    'action.created': [tell.tellOfAction, keepConversation, (tx, change) => noteOffer({ jobs }, tx, change)],
    'action.received': [
      (tx, { tenant, action: { issuerTag } }) => learnOfIssuer({ clock, jobs }, tx, { tenant, issuerTag }),
      (tx, { action }) => queueReceivedHistory({ jobs }, tx, action),
      tell.tellOfAction,
      keepConversation,
      (tx, change) => queueNotification({ jobs, clock }, tx, change),
      (tx, change) => noteOffer({ jobs }, tx, change),
    ],
    'action.changed': [tell.tellOfAction],
    'action.deleted': [tell.tellOfAction, keepConversation, (tx, change) => dropOffer({ clock }, tx, change)],
    'action.counted': [tell.passCounts],
  } satisfies Partial<Reactions<AppEvent>>
}
