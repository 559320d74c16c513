import type { IdTag } from '@kith/protocol'

/** One line of the trail. `details` never hold a secret or a token. */
export interface AuditEntry {
  /** What happened, as `thing.happened`: `session.started`, `password.changed`. */
  readonly event: `${string}.${string}`
  readonly actorTag?: IdTag | undefined
  readonly ip?: string | undefined
  readonly details?: Readonly<Record<string, unknown>>
}

export interface StoredAuditEntry extends AuditEntry {
  readonly entryId: string
  readonly atMs: number
}
