/** What a request of a database answers. */
export function ask<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Opens a database; fails where it is not there and nothing is said of how it is made. */
export function openTables(name: string, make?: (db: IDBDatabase) => unknown): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1)
  request.onupgradeneeded = () => {
    if (make) make(request.result)
    else request.transaction?.abort()
  }
  return ask(request)
}
