import { createStore } from '#lib/store.ts'
import { noteReached, noteUnreachable } from './offline.ts'

/** Whether the server is heard just now. */
export const connection = createStore<'connecting' | 'open' | 'ended'>('connecting')

// A connection that is made anew at once is not worth a word.
const graceMs = 2_000

export function noteConnection(state: 'connecting' | 'open' | 'ended'): void {
  const wasOpen = connection.get() === 'open'
  connection.set(state)
  if (state === 'open') noteReached()
  // A server that ends the connection, as it does with the session, is there.
  else if (wasOpen) setTimeout(() => connection.get() === 'connecting' && noteUnreachable(), graceMs)
}

window.addEventListener('online', () => {
  if (connection.get() === 'open') noteReached()
})
