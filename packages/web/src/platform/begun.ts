import type { BegunPlace } from '#lib/begun.ts'
import { beforeWipe } from './wipe.ts'

// What nobody has taken by then is out of date.
const lastsMs = 10_000

// A first script that comes later than the app asks nothing.
const place = globalThis as BegunPlace
place.kithBegun ??= new Map()
const begun = place.kithBegun

/** The answer to a question that was asked before the app was there, once. */
export function takeBegun(input: RequestInfo | URL, init?: RequestInit): Promise<Response> | undefined {
  if (typeof input !== 'string' || (init?.method ?? 'GET') !== 'GET') return undefined
  if (performance.now() > lastsMs) begun.clear()
  const { origin } = location
  const path = input.startsWith(origin) ? input.slice(origin.length) : input
  const answer = begun.get(path)
  begun.delete(path)
  return answer
}

beforeWipe(() => begun.clear())
