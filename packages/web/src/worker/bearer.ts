import type { MediaWish } from '#lib/media-messages.ts'

// A page that is there answers sooner, whatever its server does.
const patienceMs = 30_000

// In memory alone: a worker that was started anew asks a page for another one.
let bearer: string | undefined
let since = 0
let isClosed = false
// By the page that is asked. Bound: the open pages.
const asking = new Map<string, Promise<string | undefined>>()

/** Ends what was given, and asks nobody until somebody has signed in: what pages are still about to give is of a session that
 * has ended. */
export function forgetBearer(): void {
  bearer = undefined
  isClosed = true
  since += 1
  asking.clear()
}

/** Whether a session has ended, and nobody has signed in since: what a request brings then is not stored. */
export function isForgotten(): boolean {
  return isClosed
}

/** Somebody is signed in, in a page that can be asked. */
export async function openBearer(page: WorkerClient): Promise<void> {
  isClosed = false
  await bearerFor(page)
}

/** How often everything was forgotten: what began before belongs to nobody now. */
export function bearerAge(): number {
  return since
}

/** The bearer for media, from the page that needs it where there is none yet, or `refused` is what there was. */
export async function bearerFor(page: WorkerClient, refused?: string): Promise<string | undefined> {
  if (isClosed || (bearer !== undefined && bearer !== refused)) return bearer
  const asked = asking.get(page.id) ?? askPage(page)
  asking.set(page.id, asked)
  return asked
}

async function askPage(page: WorkerClient): Promise<string | undefined> {
  const at = since
  const { port1, port2 } = new MessageChannel()
  const wish: MediaWish = { kind: 'bearer' }
  const given = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), patienceMs)
    port1.onmessage = ({ data }) => {
      clearTimeout(timer)
      resolve(data as string | undefined)
    }
    page.postMessage(wish, [port2])
  })
  port1.close()
  if (at !== since) return undefined
  asking.delete(page.id)
  if (given !== undefined) bearer = given
  return given
}
