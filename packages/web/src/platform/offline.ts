import { createStore } from '#lib/store.ts'

/** Since when the server cannot be reached, in Unix milliseconds; undefined while it can. */
export const offlineSince = createStore<number | undefined>(navigator.onLine ? undefined : Date.now())

export function noteUnreachable(): void {
  if (offlineSince.get() === undefined) offlineSince.set(Date.now())
}

/** The server has answered. */
export function noteReached(): void {
  if (navigator.onLine) offlineSince.set(undefined)
}

window.addEventListener('offline', noteUnreachable)
