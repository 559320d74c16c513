import type { SharedIn, SharedInWish } from '#lib/shared-in.ts'

// Of a worker that is there; one of a former build says nothing.
const patienceMs = 5_000

// The system opens a window of the installed app for it. Any page can send a form into a tab, and its files would be uploaded.
const isTab = () => window.matchMedia('(display-mode: browser)').matches

/** What another program has handed over, from the worker that took it, once; undefined where it is not there any more, or
 * this is no window of the installed app. */
export async function takeShared(id: string): Promise<SharedIn | undefined> {
  const worker = navigator.serviceWorker?.controller
  if (!worker) return undefined
  const wish: SharedInWish = { kind: 'take-shared', id }
  if (isTab()) {
    worker.postMessage(wish)
    return undefined
  }
  const { port1, port2 } = new MessageChannel()
  const { promise, resolve } = Promise.withResolvers<SharedIn | undefined>()
  const timer = setTimeout(() => resolve(undefined), patienceMs)
  port1.onmessage = ({ data }) => resolve(data as SharedIn | undefined)
  worker.postMessage(wish, [port2])
  const shared = await promise
  clearTimeout(timer)
  port1.close()
  return shared
}
