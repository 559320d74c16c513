import { bearerMark, isMediaPath, type MediaWish } from '#lib/media-messages.ts'
import { isAnnounced, takeAnnounced } from './announced.ts'
import { bearerFor } from './bearer.ts'
import { answerPicture, isKeptPicture } from './kept-pictures.ts'

/** Whether a request is for media that a page of the app shows or has saved. A link that leads here from elsewhere is not: nobody
 * is to find out by one what there is. */
export function isMedia({ mode, url }: Request): boolean {
  const { pathname, search, hash } = new URL(url)
  if (hash !== bearerMark || !isMediaPath(pathname)) return false
  return mode !== 'navigate' || isAnnounced(pathname + search, Date.now())
}

/** The bytes, asked for with the bearer. */
export async function answerMedia(
  event: WorkerFetchEvent,
  clients: WorkerScope['clients'],
): Promise<Response> {
  const { request } = event
  if (request.mode === 'navigate') return await answerDownload(request, clients)
  const load = async () => fetchFor(request, await clients.get(event.clientId))
  if (!isKeptPicture(request)) return await load()
  return await answerPicture(request, load, (work) => event.waitUntil(work))
}

async function answerDownload(request: Request, clients: WorkerScope['clients']): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const page = await clients.get(takeAnnounced(pathname + search, Date.now()) ?? '')
  const answer = await fetchFor(request, page).catch(() => undefined)
  if (answer?.ok) return answer
  const wish: MediaWish = { kind: 'download-failed' }
  page?.postMessage(wish)
  // Whoever navigates stays where they are.
  return new Response(null, { status: 204 })
}

/** With a fresh bearer, once, where the server takes the present one no longer. */
async function fetchFor(request: Request, page: WorkerClient | undefined): Promise<Response> {
  const bearer = page && (await bearerFor(page))
  if (!page || bearer === undefined) return await fetch(request)
  const answer = await fetchWith(request, bearer)
  if (answer.status !== 401) return answer
  const fresh = await bearerFor(page, bearer)
  return fresh === undefined ? answer : await fetchWith(request, fresh)
}

function fetchWith({ url, headers: asked, cache, signal }: Request, bearer: string): Promise<Response> {
  const headers = new Headers(asked)
  headers.set('authorization', `Bearer ${bearer}`)
  // A picture's own mode lets no such header through.
  return fetch(url, { headers, cache, signal, mode: 'same-origin', credentials: 'omit' })
}
