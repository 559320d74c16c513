import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Clock } from '#lib/clock.ts'
import { type Backend, placeOf } from './backend.ts'
import { lookupBackend } from './backend-lookup.ts'

/** The status that a backend answers with at a path. Rejects when it does not answer within its times. */
export function askBackend(clock: Clock, backend: Backend, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const ask = backend.origin.startsWith('https:') ? httpsRequest : httpRequest
  const host = backend.preservesHost ? { host: backend.host } : {}
  const headers = { ...host, ...Object.fromEntries(backend.requestHeaders.values()) }
  const request = ask({ ...placeOf(backend), path, headers, agent: false, lookup: lookupBackend })
  const timeoutMs = backend.connectTimeoutMs + backend.readTimeoutMs
  const cancel = clock.wakeAt(clock.now() + timeoutMs, () => {
    reject(new Error('the backend did not answer in time'))
    request.destroy()
  })
  request.on('error', reject).on('response', (answer) => {
    resolve(answer.statusCode ?? 0)
    // The body is of no interest, however long it is.
    answer.destroy()
  })
  // Also by a switch to another protocol, of which nothing else tells.
  request.on('close', () => reject(new Error('the backend gave no answer')))
  request.end()
  return promise.finally(cancel)
}
