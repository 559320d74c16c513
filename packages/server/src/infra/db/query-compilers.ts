import { type LimitNode, PostgresQueryCompiler, SqliteQueryCompiler } from 'kysely'

/** The place of a value in a prepared statement. */
export class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

class SqliteCompiler extends SqliteQueryCompiler {
  // SQLite plans a statement anew whenever another value is bound to its limit, at many times the cost of running it;
  // into an expression it does not look.
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node)
    this.append(' + 0')
  }
}

class SqliteStatementCompiler extends SqliteCompiler {
  // Constants of the program are part of the text: bound, they would hide from the planner which partial index fits,
  // and each binding would make it look again.
  protected override appendValue(value: unknown): void {
    if (value instanceof Slot) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

class PostgresStatementCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Slot) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

// Compilers keep no state between queries, so all builders of a dialect share them.

/** For queries that are built each time they run. */
export const queryCompilers = { sqlite: new SqliteCompiler(), postgres: new PostgresQueryCompiler() }

/** For statements that are built once. */
export const statementCompilers = {
  sqlite: new SqliteStatementCompiler(),
  postgres: new PostgresStatementCompiler(),
}
