import { createClient } from '@kith/client'
import { takeBegun } from './begun.ts'
import { connection } from './connection.ts'
import { noteAnswer } from './offered.ts'
import { noteReached, noteUnreachable } from './offline.ts'
import { currentToken, resumeSession } from './session.ts'

/** Asks without cookies, and once more with a new token when the present one has expired. */
const send: typeof fetch = async (input, init) => {
  const asked = { ...init, credentials: 'omit', cache: 'no-store' } as const
  const answer = await reach(input, asked)
  if (typeof input === 'string') void noteAnswer(input, answer)
  if (answer.status !== 401 || !(await resumeSession())) return answer
  const headers = { ...(init?.headers as Record<string, string>), authorization: `Bearer ${currentToken()}` }
  return reach(input, { ...asked, headers })
}

const reach: typeof fetch = async (input, init) => {
  try {
    const answer = await (takeBegun(input, init) ?? fetch(input, init))
    noteReached()
    return answer
  } catch (error) {
    // While the server is heard, it is this request alone that failed.
    if (connection.get() !== 'open' && init?.signal?.aborted !== true) noteUnreachable()
    throw error
  }
}

/** The client of the tenant whose app this is. */
export const client = createClient({ baseUrl: location.origin, token: currentToken, fetch: send })

/** For what is sent while the page goes: the browser finishes it without the page. */
export const partingClient = createClient({
  baseUrl: location.origin,
  token: currentToken,
  fetch: (input, init) => fetch(input, { ...init, credentials: 'omit', keepalive: true }),
})
