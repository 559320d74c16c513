import type { LiveFiles } from '#features/files/index.ts'
import type { EngineDeps } from '../engine/index.ts'
import type { LiveDatabases } from '../live/live-databases.ts'
import type { LongRequests } from './long-requests.ts'

export interface ClientDeps {
  readonly engine: EngineDeps
  readonly files: Pick<LiveFiles, 'open' | 'review' | 'renew'>
  readonly databases: LiveDatabases
  readonly longRequests: LongRequests
  readonly logger: { error(fields: object, message: string): void }
}
