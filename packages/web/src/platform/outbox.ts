import { KithError } from '@kith/client'
import { randomId } from '#lib/random-id.ts'
import { createStore } from '#lib/store.ts'
import { connection } from './connection.ts'
import { dropWaiting, keeping, listWaiting, putWaiting } from './kept.ts'
import { isPassing, whenTold } from './query.ts'
import { session } from './session.ts'

/** Something that was done here and that the server does not have yet. */
export interface Waiting<Payload = unknown> {
  /** Sent again with the same key, it is not done a second time. */
  readonly key: string
  /** Who sends it, by name. */
  readonly kind: string
  readonly payload: Payload
  /** In Unix milliseconds; no two of a device have the same. */
  readonly createdAt: number
  /** Of one that was refused, those of its group wait behind it. */
  readonly group?: string | undefined
  readonly refusal?: { readonly code: KithError['code']; readonly status: number; readonly reqId?: string }
}

/** Sends what waits of one kind. */
export interface Sender<Payload> {
  send(payload: Payload, waiting: Waiting<Payload>): Promise<void>
  /** Brings back to its author what the server has refused; true keeps it in the outbox until the author has decided. */
  refused(payload: Payload, error: KithError): boolean
}

/** Senders by kind, loaded with the first thing that is sent. */
export type Senders = Readonly<Record<string, () => Promise<Sender<never>>>>

/** What waits, in the order in which it was done. */
export const outbox = createStore<readonly Waiting[]>([])

/** The ids of what the server has taken and what may not be shown yet, by the keys with which it waited. Bound: what was sent
 * from this page. */
export const arrived = createStore<ReadonlyMap<string, string>>(new Map())

/** Notes under which id the server has what was sent. */
export function noteArrival(key: string, id: string): void {
  arrived.set(new Map([...arrived.get(), [key, id]]))
}

/** Whether the last attempt has failed, and there will be another one. */
export const isStalled = createStore(false)

const firstAgainMs = 2_000
const longestAgainMs = 60_000

let senders: Senders = {}
// What this browser does not keep. Bound: what one person does on one page.
const unkept = new Map<string, Waiting>()
const beingKept = new Set<string>()
// What no longer waits, and may still be in what is kept.
const beingForgotten = new Set<string>()
let changes = 0
const tabs = new BroadcastChannel('kith-outbox')
let timer: ReturnType<typeof setTimeout> | undefined
let againMs = firstAgainMs
let flushing: Promise<void> | undefined
let isAskedAgain = false

/** Begins to send what waits, also from former visits. */
export function startOutbox(by: Senders): void {
  senders = by
  void flushOutbox()
}

/** Sends something as soon as that is possible, after what was done before. What `replaces` the same and has not left is
 * dropped. */
export async function sendLater(
  what: Pick<Waiting, 'kind' | 'payload' | 'group'> & { readonly replaces?: string },
): Promise<void> {
  const { replaces, ...waiting } = what
  const createdAt = Math.max(Date.now(), (outbox.get().at(-1)?.createdAt ?? 0) + 1)
  const key = replaces === undefined ? randomId() : `${replaces} ${randomId()}`
  const former = outbox.get().filter((one) => replaces !== undefined && one.key.startsWith(`${replaces} `))
  const gone = new Set(former.map((one) => one.key))
  const added = { ...waiting, key, createdAt }
  unkept.set(key, added)
  outbox.set([...outbox.get().filter((one) => !gone.has(one.key)), added])
  await Promise.all(former.map(({ key }) => forget(key)))
  await keep(added)
  tabs.postMessage('changed')
  await flushOutbox()
}

/** Sends one again that was refused, and those behind it. */
export async function sendAgain(key: string): Promise<void> {
  const found = outbox.get().find((one) => one.key === key)
  if (!found) return
  const { refusal, ...waiting } = found
  await keep(waiting)
  await reload()
  await flushOutbox()
}

/** Gives up what was refused. */
export async function discard(key: string): Promise<void> {
  await forget(key)
  await reload()
  tabs.postMessage('changed')
  await flushOutbox()
}

async function keep(waiting: Waiting): Promise<void> {
  const { key } = waiting
  unkept.set(key, waiting)
  // Sent meanwhile, it would be kept for ever.
  beingKept.add(key)
  if (await putWaiting(key, waiting)) unkept.delete(key)
  beingKept.delete(key)
  changes += 1
}

async function forget(key: string): Promise<void> {
  unkept.delete(key)
  beingForgotten.add(key)
  // At once: what was sent stands where it belongs by now, and would be there twice.
  outbox.set(outbox.get().filter((one) => one.key !== key))
  await dropWaiting(key)
  beingForgotten.delete(key)
  changes += 1
}

async function reload(): Promise<void> {
  let stored: readonly Waiting[]
  let before: number
  // What was kept or forgotten while it was read may be missing in it, or still be there.
  do {
    before = changes
    stored = (await listWaiting()) as Waiting[]
  } while (changes !== before)
  const all = new Map([...stored, ...unkept.values()].map((waiting) => [waiting.key, waiting]))
  const waiting = [...all.values()].filter(({ key }) => !beingForgotten.has(key))
  outbox.set(waiting.sort((one, other) => one.createdAt - other.createdAt))
}

/** Tries what waits, now. */
export function flushOutbox(): Promise<void> {
  isAskedAgain = true
  flushing ??= flushAll().finally(() => {
    flushing = undefined
  })
  return flushing
}

async function flushAll(): Promise<void> {
  clearTimeout(timer)
  while (isAskedAgain) {
    isAskedAgain = false
    // One tab sends at a time, and each looks first at what the others have left.
    if (navigator.locks === undefined) await flush()
    else await navigator.locks.request('kith-outbox', flush)
  }
}

async function flush(): Promise<void> {
  while (true) {
    await reload()
    const next = nextOf(outbox.get())
    if (!next) return isStalled.set(false)
    if (session.get().state !== 'signed-in') return isStalled.set(true)
    if (!(await sendOne(next))) return
    tabs.postMessage('changed')
  }
}

function nextOf(all: readonly Waiting[]): Waiting | undefined {
  const held = new Set(all.flatMap(({ refusal, group }) => (refusal && group !== undefined ? [group] : [])))
  const next = all.find(({ kind, refusal, group }) => senders[kind] && !refusal && !held.has(group ?? ''))
  // It is tried when it is kept, and nothing overtakes it.
  return next && beingKept.has(next.key) ? undefined : next
}

/** False where it has to be tried again. */
async function sendOne(waiting: Waiting): Promise<boolean> {
  const { key, kind, payload } = waiting
  const sender = (await senders[kind]?.()) as Sender<unknown> | undefined
  if (!sender) return false
  try {
    await sender.send(payload, waiting)
    // Before that, it would be shown nowhere for a moment.
    await whenTold()
    await forget(key)
  } catch (error) {
    if (isPassing(error) || !(error instanceof KithError) || error.code === 'E-AUTH-UNAUTH') {
      waitAfter(error)
      return false
    }
    const { code, status, reqId } = error
    if (!sender.refused(payload, error)) await forget(key)
    else await keep({ ...waiting, refusal: { code, status, ...(reqId === undefined ? {} : { reqId }) } })
  }
  againMs = firstAgainMs
  isStalled.set(false)
  return true
}

function waitAfter(error: unknown): void {
  isStalled.set(true)
  const toldMs = error instanceof KithError ? (error.retryAfterSecs ?? 0) * 1000 : 0
  clearTimeout(timer)
  timer = setTimeout(() => void flushOutbox(), Math.max(toldMs, againMs))
  againMs = Math.min(2 * againMs, longestAgainMs)
}

tabs.onmessage = () => void reload()
connection.subscribe(() => connection.get() === 'open' && void flushOutbox())
window.addEventListener('online', () => void flushOutbox())
session.subscribe(() => {
  const { state } = session.get()
  // Who signs in again on this page goes on with what waits.
  if (state === 'expired') for (const waiting of outbox.get()) unkept.set(waiting.key, waiting)
  if (state === 'signed-in') void flushOutbox()
})
keeping.subscribe(() => void takeIn())

async function takeIn(): Promise<void> {
  if (keeping.get() !== 'on') return
  for (const waiting of unkept.values()) await keep(waiting)
  await flushOutbox()
}
