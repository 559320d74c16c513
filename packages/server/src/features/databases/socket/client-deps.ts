import type { LiveFiles } from '#features/files/index.ts'
import type { EngineDeps } from '../engine/index.ts'
import type { LiveDatabases } from '../live/live-databases.ts'

export interface ClientDeps {
  readonly engine: EngineDeps
  readonly files: Pick<LiveFiles, 'open' | 'review'>
  readonly databases: LiveDatabases
  readonly logger: { error(fields: object, message: string): void }
}
