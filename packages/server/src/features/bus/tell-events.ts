import type { IdTag } from '@kith/protocol'
import type { AccountEvent } from '#features/accounts/index.ts'
import type { ActionChange, ActionEvent } from '#features/actions/index.ts'
import type { ConversationEvent } from '#features/conversations/index.ts'
import { type FileEvent, listSharesOfFiles } from '#features/files/index.ts'
import type { ProfileEvent } from '#features/profiles/index.ts'
import { listReceivers } from '#features/relations/index.ts'
import type { SettingEvent } from '#features/settings/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { actionNotice } from './action-notice.ts'
import type { Bus } from './open-bus.ts'

type Of<Event, Kind extends string> = Event & { readonly kind: Kind }
type SessionEvent = Of<AccountEvent, 'session.signed-in' | 'session.revoked'>
type ShareEvent = Of<FileEvent, 'file.shared' | 'file.unshared'>

/** The methods of a bus that take events. */
export type TellingBus = Pick<Bus, 'tell' | 'tellAll' | 'hasListeners' | 'pass'>

const fileWords = {
  'file.created': 'created',
  'file.updated': 'updated',
  'file.deleted': 'deleted',
  'file.shared': 'shared',
  'file.unshared': 'unshared',
} as const

/** What clients hear of each event, as reactions. */
export function busReactions(bus: TellingBus) {
  return {
    tellOfAction: (tx: Writer, event: ActionChange) => bus.tell(tx, actionNotice(event)),
    tellOfConversation: (tx: Writer, { conversationId }: ConversationEvent) =>
      bus.tell(tx, { kind: 'CONVERSATION', conversationId }),
    passCounts(tx: Writer, { actionId }: Of<ActionEvent, 'action.counted'>): void {
      const { tenantId } = tx
      tx.afterCommit(() => bus.pass(tenantId, { kind: 'STAT', actionId }))
    },
    /** Told to the owner and to identities it is shared with. */
    async tellOfFile(tx: Writer, { kind, fileId, to }: FileEvent): Promise<void> {
      if (!(await bus.hasListeners(tx))) return
      const shares = await listSharesOfFiles(tx, [fileId])
      const people = shares.filter(({ subjectType }) => subjectType === 'U')
      const grantees = people.map(({ subjectId }) => subjectId as IdTag)
      const event = fileWords[kind]
      await bus.tell(tx, { kind: 'FILE', fileId, event, to: [...new Set([...to, ...grantees])] })
    },
    /** A share is told only to its grantees. */
    async tellOfShare(tx: Writer, { kind, fileId, to }: ShareEvent): Promise<void> {
      if (!(await bus.hasListeners(tx))) return
      await bus.tell(tx, { kind: 'FILE', fileId, event: fileWords[kind], to: [...new Set(to)] })
    },
    /** Told to followers of the profile here, and to its own clients. */
    async tellOfProfile(tx: Writer, { idTag, members }: ProfileEvent): Promise<void> {
      const followers = await listReceivers(tx, idTag)
      const own = tx.tenantId === serverTenant ? [] : [tx.tenantId]
      await bus.tellAll(tx, [...own, ...followers], { kind: 'PROFILE', idTag, changed: members })
    },
    tellOfSetting: (tx: Writer, { name, byTag }: SettingEvent) =>
      bus.tell(tx, { kind: 'SETTING', name, to: [byTag] }),
    passSession(tx: Writer, { kind, callerTag, sid }: SessionEvent): void {
      const { tenantId } = tx
      const event = kind === 'session.signed-in' ? ('signed-in' as const) : ('revoked' as const)
      tx.afterCommit(() => bus.pass(tenantId, { kind: 'SESSION', event, sid, to: [callerTag] }))
    },
  }
}
