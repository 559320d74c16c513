import type { IdTag } from '@kith/protocol'
import { type HeldCredential, listEnded } from '#features/accounts/index.ts'
import type { ActionPorts } from '#features/actions/index.ts'
import { actionNotice, addBusSweep, type Bus, busRoute, openBus } from '#features/bus/index.ts'
import type { FileObserver } from '#features/files/index.ts'
import { listSharesOfFiles } from '#features/files/index.ts'
import type { ProfileObserver } from '#features/profiles/index.ts'
import { listBarred, listReceivers } from '#features/relations/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { HttpHooks, RateLimits } from '#infra/http/index.ts'
import { openSockets, type Sockets } from '#infra/ws/index.ts'
import { forgottenChannel, type IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** The bus, on which clients hear what happens. */
export function openBusFeature(
  { db, clock, logger, jobs, nodeBus }: Services,
  { authenticator, settings }: IdentityFeatures,
): Bus {
  addBusSweep({ db, clock, jobs })
  const recall = (held: HeldCredential) => authenticator.recall(held)
  return openBus({ db, clock, logger, settings, recall, bus: nodeBus })
}

/** Actions of which the bus tells. */
export function tellingActions(ports: ActionPorts, bus: Bus): ActionPorts {
  return {
    ...ports,
    async onStored(tx, event) {
      await ports.onStored(tx, event)
      await bus.tell(tx, actionNotice(event))
    },
    onCounted(tx, actionId) {
      ports.onCounted(tx, actionId)
      const { tenantId } = tx
      tx.afterCommit(() => bus.pass(tenantId, { kind: 'STAT', actionId }))
    },
  }
}

/** Told of files: the tenant whose they are, and those it shares them with. */
export function tellingFiles(bus: Bus): Required<FileObserver> {
  return {
    async onFile(tx, { fileId, event, to }) {
      if (!(await bus.isWanted(tx))) return
      // Of a share only those hear whom it is for.
      const isOfShare = event === 'shared' || event === 'unshared'
      const shares = isOfShare ? [] : await listSharesOfFiles(tx, [fileId])
      const people = shares.filter(({ subjectType }) => subjectType === 'U')
      const grantees = people.map(({ subjectId }) => subjectId as IdTag)
      await bus.tell(tx, { kind: 'FILE', fileId, event, to: [...new Set([...to, ...grantees])] })
    },
  }
}

/** Told of changed profiles: those who follow them here, and their own clients. */
export function tellingProfiles(bus: Bus): Required<ProfileObserver> {
  return {
    async onProfileChanged(tx, { idTag, members }) {
      const followers = await listReceivers(tx, idTag)
      const own = tx.tenantId === serverTenant ? [] : [tx.tenantId]
      await bus.tellAll(tx, [...own, ...followers], { kind: 'PROFILE', idTag, changed: members })
    },
  }
}

interface SocketParts {
  readonly identity: IdentityFeatures
  readonly bus: Bus
  readonly hooks: HttpHooks<HeldCredential>
  readonly rateLimits: RateLimits
}

/** Everything that is spoken over WebSockets. */
export function openSocketServer(
  { db, clock, logger, nodeBus }: Services,
  { identity, bus, hooks, rateLimits }: SocketParts,
): Sockets {
  const { tenants } = identity
  const reader = db.reader(serverTenant)
  const ended = { db, clock, tenants, listBarred: listBarred.bind(undefined, reader) }
  const sockets = openSockets<HeldCredential>({
    routes: [busRoute({ bus, clock })],
    hooks: { ...hooks, listEnded: (held) => listEnded(ended, held) },
    rateLimits,
    clock,
    logger,
  })
  nodeBus.subscribe(forgottenChannel, { onMessage: () => void sockets.review() })
  return sockets
}
