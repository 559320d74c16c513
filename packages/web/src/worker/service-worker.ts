import type { MediaNews } from '#lib/media-messages.ts'
import { type PushData, pushNotice } from '#lib/push-notice.ts'
import { type SharedInWish, sharedInPath } from '#lib/shared-in.ts'
import { chooseLanguage } from '#lib/texts.ts'
import { announceDownload, forgetAnnounced } from './announced.ts'
import { forgetBearer, openBearer } from './bearer.ts'
import { answerAsset, answerNavigation, type Build, dropFormerBuilds, keepBuild } from './kept-build.ts'
import { forgetPictures } from './kept-pictures.ts'
import { answerMedia, isMedia } from './media.ts'
import { giveShared, takeIn } from './shared-in.ts'

/** Put in by the build. */
declare const thisBuild: Build
const worker = globalThis as unknown as WorkerScope

const build: Build = thisBuild
const assets = new Set(build.assets)

worker.addEventListener('install', (event) => event.waitUntil(keepBuild(build)))
worker.addEventListener('activate', (event) => event.waitUntil(dropFormerBuilds(build)))

worker.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (origin !== worker.location.origin) return
  if (request.method === 'POST' && pathname === sharedInPath)
    return event.respondWith(takeIn(request, (work) => event.waitUntil(work)))
  if (request.method !== 'GET') return
  if (assets.has(pathname)) event.respondWith(answerAsset(request))
  else if (isMedia(request)) event.respondWith(answerMedia(event, worker.clients))
  else if (request.mode === 'navigate' && !pathname.startsWith('/api/'))
    event.respondWith(answerNavigation(request))
})

worker.addEventListener('message', (event) => {
  const news = event.data as MediaNews | SharedInWish
  if (news.kind === 'take-shared') {
    const shared = giveShared(news.id)
    event.ports[0]?.postMessage(shared)
  } else if (news.kind === 'forget') {
    forgetBearer()
    event.waitUntil(forgetPictures())
    forgetAnnounced()
  } else if (event.source && news.kind === 'opened') event.waitUntil(openBearer(event.source))
  else if (event.source && news.kind === 'download') {
    announceDownload(news.address, event.source.id, Date.now())
    event.ports[0]?.postMessage(true)
  }
})

worker.addEventListener('push', (event) => {
  const notice = pushNotice(event.data?.json(), chooseLanguage(undefined, navigator.languages))
  if (!notice) return
  const { title, ...options } = notice
  // A second message of a conversation is heard as the first was.
  const shown: NotificationOptions & { readonly renotify: boolean } = { ...options, renotify: true }
  event.waitUntil(worker.registration.showNotification(title, shown))
})

worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(openPlace((event.notification.data as PushData).path))
})

/** In a window of the app that is open already, else in a new one. */
async function openPlace(path: string): Promise<void> {
  const [open] = await worker.clients.matchAll({ type: 'window' })
  if (!open) return void (await worker.clients.openWindow(path))
  await open.focus()
  await open.navigate(new URL(path, open.url).href)
}
