import type { SQLInputValue } from 'node:sqlite'
import { type Compilable, type CompiledQuery, sql } from 'kysely'
import type { Dialect, Placeholder, Prepared, WriteTables } from './database.ts'
import { overTables, queryBuilder } from './query-builder.ts'
import { Slot, statementCompilers } from './query-compilers.ts'

/** A prepared statement in the words of one dialect. */
export interface CompiledStatement {
  readonly name: string
  readonly sql: string
  readonly query: CompiledQuery
  /** The values in the order the database takes them; both drivers take those of SQLite. */
  bind(values: unknown): SQLInputValue[]
}

const builders = {
  sqlite: queryBuilder<unknown>('sqlite', neverRun, statementCompilers.sqlite),
  postgres: queryBuilder<unknown>('postgres', neverRun, statementCompilers.postgres),
}
// Statements are module constants, so this grows with the program text and not with its use.
const compiled = {
  sqlite: new WeakMap<object, CompiledStatement>(),
  postgres: new WeakMap<object, CompiledStatement>(),
}
let statements = 0

/** Prepares a hot statement: `build` is called once per dialect, with `value('name')` in the place of each value.
 * Other values become part of its text. The types of tables and values are those that `build` declares for its parameters. */
export function statement<Tables, Values, Row>(
  build: (tables: WriteTables<Tables>, value: Placeholder<Values>, dialect: Dialect) => Compilable<Row>,
): Prepared<Values, Row> {
  statements += 1
  return {
    name: `kith_${statements}`,
    build: (dialect) => build(overTables(builders[dialect]), placeholder, dialect),
  }
}

/** The compiled form of a prepared statement; compiles it at the first use in a dialect. */
export function compiledStatement(prepared: Prepared<never, unknown>, dialect: Dialect): CompiledStatement {
  const known = compiled[dialect].get(prepared)
  if (known) return known
  const query = prepared.build(dialect).compile()
  const made = { name: prepared.name, sql: query.sql, query, bind: binder(query.parameters) }
  compiled[dialect].set(prepared, made)
  return made
}

function placeholder<Value>(name: string) {
  return sql<Value>`${new Slot(name)}`
}

function binder(parameters: readonly unknown[]): (values: unknown) => SQLInputValue[] {
  const names = parameters.map((parameter) => (parameter as Slot).name)
  return (values) => {
    const named = values as Readonly<Record<string, SQLInputValue | undefined>>
    const bound = new Array<SQLInputValue>(names.length)
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] ?? ''
      const value = named[name]
      if (value === undefined) throw new TypeError(`A prepared statement has no value for "${name}"`)
      bound[index] = value
    }
    return bound
  }
}

function neverRun(): Promise<never> {
  return Promise.reject(new Error('A prepared statement is run through a Reader or a Writer'))
}
