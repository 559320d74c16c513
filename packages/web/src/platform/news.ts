import { connectBus } from '@kith/client/bus'
import type { BusEvent, BusEventName } from '@kith/protocol'
import { connection, noteConnection } from './connection.ts'
import { queries } from './query.ts'
import { currentToken, resumeAnew, resumeSession, session } from './session.ts'

/** What a feature does with events of the bus; `data` is of the event with this name. */
export type NewsHandlers = {
  readonly [Name in BusEventName]?: (data: Extract<BusEvent, { cmd: Name }>['data']) => void
}

// Between two ends of the connection, when the server takes what it gives and refuses it at once.
const pauseMs = 5_000

/** Listens to the bus for as long as the tab lives: the one way news comes. Calls back when it is open first; after events were
 * missed, what is shown is loaded anew. */
export function startNews(handlers: readonly NewsHandlers[], onOpen: () => void): void {
  let isOpen = false
  listen(handlers, () => {
    if (!isOpen) onOpen()
    isOpen = true
  })
}

function listen(handlers: readonly NewsHandlers[], onOpen: () => void): void {
  const startedAt = Date.now()
  connectBus({
    baseUrl: location.origin,
    token: tokenForBus,
    onEvent: (event) => {
      if (event.cmd === 'SESSION') return afterSessionEvent(event.data)
      for (const handler of handlers) tell(handler, event)
    },
    onGap: loadAnew,
    onState: ({ kind }) => {
      noteConnection(kind)
      if (kind === 'open') onOpen()
      const waitMs = Math.max(0, startedAt + pauseMs - Date.now())
      if (kind === 'ended') setTimeout(() => void listenAgain(handlers), waitMs)
    },
  })
}

/** What is not as it should be tells one feature nothing, and keeps no other from hearing. */
function tell(handlers: NewsHandlers, { cmd, data }: BusEvent): void {
  const handler = Object.hasOwn(handlers, cmd) ? handlers[cmd] : undefined
  try {
    const heed = handler as ((data: unknown) => void) | undefined
    heed?.(data)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

/** The server takes the token no longer: with a new one, at once or when somebody has signed in again. */
async function listenAgain(handlers: readonly NewsHandlers[]): Promise<void> {
  try {
    if (await resumeSession()) return listen(handlers, loadAnew)
  } catch {
    setTimeout(() => void listenAgain(handlers), pauseMs)
    return
  }
  const stop = session.subscribe(() => {
    if (session.get().state !== 'signed-in') return
    stop()
    listen(handlers, loadAnew)
  })
}

function loadAnew(): void {
  void queries.invalidateQueries()
}

// The bus waits up to half a minute between its attempts.
window.addEventListener('online', () => {
  if (connection.get() !== 'open') void resumeAnew().catch(() => undefined)
})

async function tokenForBus(): Promise<string> {
  const token = currentToken()
  if (token !== undefined) return token
  await resumeSession()
  return currentToken() ?? ''
}

function afterSessionEvent({ event }: Extract<BusEvent, { cmd: 'SESSION' }>['data']): void {
  if (event === 'revoked' && session.get().state === 'signed-in') void resumeAnew().catch(() => undefined)
}
