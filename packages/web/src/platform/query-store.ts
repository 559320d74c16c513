import { type QueryKey, QueryObserver, type QueryObserverOptions } from '@tanstack/preact-query'
import type { Store } from '#lib/store.ts'
import { queries } from './query.ts'

/** The answer to a query, for what is shown many times at once: one observer for all of them. */
export function queryStore<Data, Key extends QueryKey>(
  options: QueryObserverOptions<Data, Error, Data, Data, Key>,
): Pick<Store<Data | undefined>, 'get' | 'subscribe'> {
  let observer: QueryObserver<Data, Error, Data, Data, Key> | undefined
  const observed = { ...options, notifyOnChangeProps: ['data'] as const satisfies string[] }
  return {
    get: () => queries.getQueryData<Data>(options.queryKey),
    subscribe(listener) {
      observer ??= new QueryObserver(queries, observed)
      // What was asked for before may have been forgotten since.
      observer.setOptions(observed)
      return observer.subscribe(listener)
    },
  }
}
