import { AsyncLocalStorage } from 'node:async_hooks'

interface Scope {
  readonly isActive: boolean
}

// Using the outer database inside a transaction would wait for itself on SQLite and escape the transaction on
// PostgreSQL. The scope follows the calls that a transaction's work makes, so both are refused at once.
const scopes = new AsyncLocalStorage<Scope>()

export function runInScope<Result>(scope: Scope, work: () => Result): Result {
  return scopes.run(scope, work)
}

export function assertOutsideTransaction(): void {
  if (scopes.getStore()?.isActive)
    throw new Error('Inside a transaction only its Writer may be used: the outer database is not part of it')
}

/** Runs functions later in the present async context: that of the request, not that of the queue. */
export function callerContext(): <Result>(run: () => Result) => Result {
  return AsyncLocalStorage.snapshot()
}
