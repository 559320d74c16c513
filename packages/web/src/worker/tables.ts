/** What a request of a database answers. */
export function ask<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/** Opens a database, which is made first where it is not there. */
export function openTables(name: string, make?: (db: IDBDatabase) => unknown): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1)
  request.onupgradeneeded = () => make?.(request.result)
  return ask(request)
}
