import type { ActionId, IdTag, StrangerSetting, Visibility } from '@kith/protocol'
import type { ActionFiles, ActionIdentities } from '#app/action-features.ts'
import type { ActionChange, ActionPorts } from '#features/actions/index.ts'
import { listCircle } from '#features/relations/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'

interface Sent {
  readonly tenantId: TenantId
  readonly actionId: ActionId
  readonly recipients: readonly IdTag[]
}

/** What actions ask of the outside and of other features, as plain values that a test may change, and what they told them. */
export class ActionWorld {
  readonly sent: Sent[] = []
  readonly events: ActionChange[] = []
  readonly settings = { visibility: undefined as Visibility | undefined, open: new Set<StrangerSetting>() }
  readonly files = { described: [] as string[], told: [] as string[] }
  /** Identities that are nobody, and those whose server does not answer; every other is there. */
  readonly unknown = new Set<string>()
  readonly unreachable = new Set<string>()
  readonly forbiddenFiles = new Set<string>()
  /** Attachments that would have to be fetched. */
  readonly missingFiles = new Set<string>()
}

/** Other servers, and the choices of the tenants. */
export function fakeIdentities(world: ActionWorld, tenants: Tenants): ActionIdentities {
  const findWith = async (_: unknown, name: string) =>
    name === 'profile.default_visibility'
      ? (world.settings.visibility ?? 'P')
      : world.settings.open.has(name as StrangerSetting)
  return {
    tenants,
    settings: { findWith: findWith as ActionIdentities['settings']['findWith'] },
    async emit(tx, event) {
      if ('action' in event) tx.afterCommit(() => world.events.push(event))
    },
    identities: {
      async resolve(idTag) {
        if (world.unknown.has(idTag)) return { kind: 'unknown' }
        if (world.unreachable.has(idTag)) return { kind: 'unreachable' }
        const { type } = (await tenants.find(idTag)) ?? {}
        const [serverUrl, inboxUrl] = [`https://${idTag}`, `https://${idTag}/api/inbox`]
        return { kind: 'found', identity: { idTag, serverUrl, inboxUrl, keys: [], ...(type && { type }) } }
      },
    },
  }
}

/** The files that actions attach and share. */
export function fakeFiles({ files, forbiddenFiles, missingFiles }: ActionWorld): ActionFiles {
  const told = (what: string, subject: string | undefined, idTag: string | undefined) =>
    void files.told.push(`${what} ${subject} ${idTag}`)
  const assertAllowed = (fileId: string) => {
    if (forbiddenFiles.has(fileId)) throw new Failure('E-FILE-NOTFOUND')
  }
  return {
    fileShares: {
      async describe(_, { fileId, permission }) {
        assertAllowed(fileId)
        files.described.push(permission)
        return { fileName: 'plan.pdf', contentType: 'application/pdf', fileTp: 'BLOB' }
      },
      grant: async (_, __, { subject, audienceTag }) => told('grant', subject, audienceTag),
      withdraw: async (_, __, { subject, audienceTag }) => told('withdraw', subject, audienceTag),
      decline: async (_, __, { subject, issuerTag }) => told('decline', subject, issuerTag),
      accept: async (_, { subject, issuerTag }) => told('accept', subject, issuerTag),
      renew: async () => {},
      drop: async (_, { subject, issuerTag }) => told('drop', subject, issuerTag),
    },
    appPackages: {
      async describe(_, { fileId }) {
        assertAllowed(fileId)
        return { capabilities: [] }
      },
    },
    attachments: {
      listShown: async () => [],
      assertAttachable: async (_, { attachments }) => attachments.forEach(assertAllowed),
      queueFetches: async (_, { attachments }) => attachments.filter((fileId) => missingFiles.has(fileId)),
    },
  }
}

/** Notes what is sent, where the program would queue deliveries. */
export function fakeDelivery({ sent }: ActionWorld): ActionPorts['deliver'] {
  return async (tx, { actionId, issuerTag, audience: { named, circle }, leftOut = [] }) => {
    const members = circle ? await listCircle(tx, circle, { after: '', limit: 1000 }) : { idTags: [] }
    const recipients = [...named, ...members.idTags].filter(
      (idTag) => idTag !== issuerTag && !leftOut.includes(idTag),
    )
    if (recipients.length > 0)
      tx.afterCommit(() => sent.push({ tenantId: tx.tenantId, actionId, recipients }))
  }
}
