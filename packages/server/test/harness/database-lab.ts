import { type FileId, fileIdOf, type RtdbOperation } from '@kith/protocol'
import {
  applyTransaction,
  type ContentsDeps,
  type DatabaseKey,
  databaseContents,
  databasesMigrations,
  type EngineDeps,
  getDocument,
  type QueryInput,
  runQuery,
} from '#features/databases/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'

/** The engine of real-time databases over a database of its own. */
export interface DatabaseLab extends DatabaseKey {
  readonly db: Database
  readonly clock: TestClock
  readonly deps: EngineDeps
  /** What was counted for the quota. */
  readonly counted: { readonly fileId: FileId; readonly bytes: number }[]
  write(...operations: readonly object[]): ReturnType<typeof applyTransaction>
  query(path: string, query?: Omit<QueryInput, 'path'>): Promise<readonly unknown[]>
  get(path: string): Promise<unknown>
}

/** Ids of databases for tests. */
export function databaseId(number: number): FileId {
  return fileIdOf('RTDB', Buffer.alloc(32, number).toString('base64url'))
}

export async function openDatabaseLab(
  open: OpenTestDatabase,
  overrides: Partial<EngineDeps> & { readonly clock?: TestClock } = {},
): Promise<DatabaseLab> {
  const db = overrides.db ?? (await open({ migrations: databasesMigrations }))
  const clock = overrides.clock ?? new TestClock()
  const counted: DatabaseLab['counted'] = []
  const deps: EngineDeps = {
    db,
    clock,
    limitsOf: async () => ({ maxFileBytes: 2 ** 40, maxStorageBytes: 0 }),
    countContent: async (_, { fileId, bytes }) => void counted.push({ fileId, bytes }),
    ...overrides,
  }
  const key = { tenantId: 1 as TenantId, fileId: databaseId(1) }
  return {
    ...key,
    db,
    clock,
    deps,
    counted,
    write: (...operations) =>
      applyTransaction(deps, key, {
        operations: operations as RtdbOperation[],
        account: 'alice.example.com',
      }),
    query: async (path, query = {}) => (await runQuery(deps, key, { path, ...query })).data,
    get: async (path) => (await getDocument(deps, key, path)).document,
  }
}

/** The same with the contents of the database, as files know them. */
export async function openContentsLab(open: OpenTestDatabase) {
  const lab = await openDatabaseLab(open)
  const told: Parameters<ContentsDeps['onChanged']>[1][] = []
  const contents = databaseContents({
    ...lab.deps,
    onChanged: (_, { seq, changes }) => void told.push({ seq, changes }),
  })
  return { lab, contents, told }
}
