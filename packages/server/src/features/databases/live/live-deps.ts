import type { NodeBus } from '#infra/bus/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { EngineDeps } from '../engine/index.ts'

export interface LiveDeps {
  readonly db: Database
  readonly clock: Clock
  readonly bus: NodeBus
  readonly engine: EngineDeps
  readonly logger: {
    warn(fields: object, message: string): void
    error(fields: object, message: string): void
  }
  /** Messages of other processes may have been missed. */
  onGap(): void
}
