import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { Dialect, Prepared, Reader, ReadTables, TenantId, Writer, WriteTables } from './database.ts'
import { outwardError } from './database-errors.ts'
import { overTables, queryBuilder } from './query-builder.ts'
import type { MaybePromise, Session } from './session.ts'
import { compiledStatement } from './statement.ts'
import { assertOutsideTransaction } from './transaction-scope.ts'

/** What all readers of a database share. */
export class ReadSource {
  readonly session: Session
  readonly tables: Kysely<unknown>

  constructor(session: Session) {
    this.session = session
    this.tables = queryBuilder(session.dialect, async (query) => {
      assertReads(query)
      assertOutsideTransaction()
      try {
        return await session.query(query)
      } catch (error) {
        throw outwardError(error)
      }
    })
  }
}

export class ReaderHandle implements Reader {
  readonly tenantId: TenantId
  readonly #source: ReadSource

  constructor(source: ReadSource, tenantId: TenantId) {
    this.#source = source
    this.tenantId = tenantId
  }

  get dialect(): Dialect {
    return this.#source.session.dialect
  }

  tables<Tables>(): ReadTables<Tables> {
    return overTables(this.#source.tables)
  }

  async run<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<Row[]> {
    const statement = this.#readable(prepared)
    try {
      return (await this.#source.session.rows(statement, values)) as Row[]
    } catch (error) {
      throw outwardError(error)
    }
  }

  async first<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<Row | undefined> {
    const statement = this.#readable(prepared)
    try {
      return (await this.#source.session.first(statement, values)) as Row | undefined
    } catch (error) {
      throw outwardError(error)
    }
  }

  #readable<Values, Row>(prepared: Prepared<Values, Row>) {
    assertOutsideTransaction()
    const statement = compiledStatement(prepared, this.#source.session.dialect)
    assertReads(statement.query)
    return statement
  }
}

/** What the handles of one transaction share: its connection until it ends, and what happens after it. */
export class Transaction {
  readonly dialect: Dialect
  readonly effects: (() => void)[] = []
  #session: Session | undefined
  #tables: Kysely<unknown> | undefined
  #failure: unknown
  /** Set when tables are defined, which no count of changed rows tells. */
  changesSchema = false

  constructor(session: Session) {
    this.dialect = session.dialect
    this.#session = session
  }

  get isActive(): boolean {
    return this.#session !== undefined
  }

  /** The error of the first statement that failed. PostgreSQL undoes a transaction with such a statement whatever
   * happens next, so on both dialects it cannot be committed. */
  get failure(): unknown {
    return this.#failure
  }

  get tables(): Kysely<unknown> {
    this.#tables ??= queryBuilder(this.dialect, (query) => this.use((session) => session.query(query)))
    return this.#tables
  }

  async use<Result>(run: (session: Session) => MaybePromise<Result>): Promise<Result> {
    if (!this.#session) throw new Error('This transaction has ended: its handles can no longer be used')
    try {
      return await run(this.#session)
    } catch (error) {
      this.#failure ??= error
      throw error
    }
  }

  /** From here on the handles throw. */
  end(): void {
    this.#session = undefined
  }
}

/** The session of a transaction for as long as that lasts. */
export function sessionOf(transaction: Transaction): Session {
  return {
    dialect: transaction.dialect,
    query: (query) => transaction.use((session) => session.query(query)),
    rows: (statement, values) => transaction.use((session) => session.rows(statement, values)),
    first: (statement, values) => transaction.use((session) => session.first(statement, values)),
    change: (statement, values) => transaction.use((session) => session.change(statement, values)),
  }
}

export class WriterHandle implements Writer {
  readonly tenantId: TenantId
  readonly #transaction: Transaction

  constructor(transaction: Transaction, tenantId: TenantId) {
    this.#transaction = transaction
    this.tenantId = tenantId
  }

  get dialect(): Dialect {
    return this.#transaction.dialect
  }

  tables<Tables>(): WriteTables<Tables> {
    return overTables(this.#transaction.tables)
  }

  run<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<Row[]> {
    return this.#transaction.use(
      (session) => session.rows(compiledStatement(prepared, session.dialect), values) as MaybePromise<Row[]>,
    )
  }

  first<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<Row | undefined> {
    return this.#transaction.use(
      (session) =>
        session.first(compiledStatement(prepared, session.dialect), values) as MaybePromise<Row | undefined>,
    )
  }

  change<Values, Row>(prepared: Prepared<Values, Row>, values: Values): Promise<number> {
    return this.#transaction.use((session) =>
      session.change(compiledStatement(prepared, session.dialect), values),
    )
  }

  /** Runs a command of data definition. */
  async command(text: string): Promise<void> {
    this.#transaction.changesSchema = true
    await sql.raw(text).execute(this.#transaction.tables)
  }

  afterCommit(effect: () => void): void {
    if (!this.#transaction.isActive) throw new Error('This transaction has ended')
    this.#transaction.effects.push(effect)
  }

  as(tenantId: TenantId): Writer {
    return new WriterHandle(this.#transaction, tenantId)
  }
}

function assertReads({ query }: CompiledQuery): void {
  if (
    query.kind === 'SelectQueryNode' &&
    !query.with?.expressions.some(({ expression }) => writes(expression))
  )
    return
  throw new Error('A Reader cannot change rows: use the Writer of a transaction')
}

function writes(node: { readonly kind: string }): boolean {
  return /^(Insert|Update|Delete|Merge)QueryNode$/.test(node.kind)
}
