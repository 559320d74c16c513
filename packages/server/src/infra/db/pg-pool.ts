import pg from 'pg'
import { Failure } from '#lib/failure.ts'
import type { PostgresClient, PostgresPool, PostgresPools, PostgresQuery } from './postgres-pool.ts'
import { safeNumber } from './safe-number.ts'

// Connections of each pool, and calls that may wait for one of them.
const maxConnections = 10
const maxWaiting = 2000
const connectTimeoutMs = 10_000
// Sums and counts arrive as int8 and numeric.
const numberTypes = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC])

/** Opens the pools of a PostgreSQL server; a connection is made when it is first needed. */
export function connectPools(url: string): PostgresPools {
  return { readers: openPool(url, true), writers: openPool(url, false) }
}

function openPool(url: string, isReadOnly: boolean): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'kith',
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    idle_in_transaction_session_timeout: 60_000,
    types: { getTypeParser },
    ...(isReadOnly ? { onConnect: setReadOnly } : {}),
  })
  // An idle connection that is lost is replaced by the next call; without a listener it would end the process.
  pool.on('error', () => undefined)
  return {
    async query(query) {
      assertFreeSlot(pool)
      return pool.query(query)
    },
    async connect() {
      assertFreeSlot(pool)
      return clientOf(await pool.connect())
    },
    end: () => pool.end(),
  }
}

async function setReadOnly(client: pg.ClientBase): Promise<void> {
  await client.query('set default_transaction_read_only = on')
}

function clientOf(client: pg.PoolClient): PostgresClient {
  const ignore = () => undefined
  // The query under way reports the loss of the connection; the event comes on top of it.
  client.on('error', ignore)
  // One after the other: the driver is about to refuse more, and a commit must not overtake a query.
  let last: Promise<unknown> = Promise.resolve()
  return {
    query(query: PostgresQuery) {
      const turn = last.then(() => client.query(query))
      last = turn.catch(ignore)
      return turn
    },
    release(isBroken) {
      client.off('error', ignore)
      client.release(isBroken)
    },
  }
}

function assertFreeSlot(pool: pg.Pool): void {
  if (pool.waitingCount >= maxWaiting)
    throw new Failure('E-UNAVAILABLE', {
      cause: new Error('Too many calls wait for a connection to the database'),
      retryAfterSecs: 1,
    })
}

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  numberTypes.has(oid) && format !== 'binary' ? safeNumber : pg.types.getTypeParser(oid, format as 'text')
