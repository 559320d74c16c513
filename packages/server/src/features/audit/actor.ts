import type { Identified } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { AuditEntry } from './audit.ts'
import { audit } from './write-audit.ts'

/** Who asks for a change, with the rights of `caller`: an identity over the API, or an operator at the command line. */
export type Actor =
  | { readonly caller: Identified; readonly ip: string }
  | { readonly caller: Identified; readonly by: 'command line' }

interface ActorEntry extends Pick<AuditEntry, 'event' | 'details'> {
  readonly actor: Actor
}

/** Writes a line that names the actor; the command line has no name and no address. */
export async function auditActor(
  deps: { readonly clock: Clock },
  tx: Writer,
  { actor, event, details }: ActorEntry,
): Promise<void> {
  const entry =
    'by' in actor
      ? { event, details: { ...details, by: actor.by } }
      : { event, details: details ?? {}, actorTag: actor.caller.idTag, ip: actor.ip }
  await audit(deps, tx, entry)
}
