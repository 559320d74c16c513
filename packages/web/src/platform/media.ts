import { type AccessGrant, getAccessToken } from '@kith/protocol'
import { bearerMark, type MediaNews, type MediaWish } from '#lib/media-messages.ts'
import { createStore } from '#lib/store.ts'
import { client } from './client.ts'
import { session } from './session.ts'

/** How this page reads media: with a bearer in their addresses, or without one, where the worker sends it or, without a
 * connection, has what it keeps. A new one is worth another attempt at what failed. */
export interface MediaAccess {
  readonly token?: string
}

// The same for as long as the page lives: a worker takes over what is loaded after it was there.
const worker = navigator.serviceWorker?.controller ?? undefined

/** Undefined until there is a bearer, where the addresses need one. */
export const mediaAccess = createStore<MediaAccess | undefined>(worker && {})

/** The same, as soon as it is there. */
export async function whenMediaAccess(): Promise<MediaAccess> {
  for (;;) {
    const access = mediaAccess.get()
    if (access) return access
    await new Promise<void>((resolve) => {
      const stop = mediaAccess.subscribe(() => {
        stop()
        resolve()
      })
    })
  }
}

/** Whether something could not be saved, and since when: Unix milliseconds. */
export const downloadFailed = createStore<number | undefined>(undefined)

let isAsking = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Sees to it that media can be read, for as long as the page lives; called again when the session is replaced. */
export async function openMedia(): Promise<void> {
  if (worker) return tellWorker({ kind: 'opened' })
  if (isAsking) return
  isAsking = true
  clearTimeout(timer)
  try {
    const { token, expiresAt } = await askForBearer()
    mediaAccess.set({ token })
    const leftMs = expiresAt * 1000 - Date.now()
    timer = setTimeout(() => void openMedia(), Math.max(30_000, leftMs - 60_000))
  } catch {
    if (session.get().state === 'unreachable') mediaAccess.set(mediaAccess.get() ?? {})
    timer = setTimeout(() => void openMedia(), 10_000)
  } finally {
    isAsking = false
  }
}

/** A bearer that reads files and profiles and nothing else. */
async function askForBearer(): Promise<AccessGrant> {
  return (await client.call(getAccessToken, { query: { scope: 'read:files read:profile' } })).data
}

session.subscribe(() => {
  if (session.get().state !== 'signed-in' || mediaAccess.get()?.token !== undefined) return
  // What could not be read without a session, or without a server, can be now.
  if (worker) {
    tellWorker({ kind: 'opened' })
    mediaAccess.set({})
  } else if (mediaAccess.get()) void openMedia()
})

function tellWorker(news: MediaNews, ports: MessagePort[] = []): void {
  worker?.postMessage(news, ports)
}

navigator.serviceWorker?.addEventListener('message', ({ data, ports }) => {
  const { kind } = data as MediaWish
  if (kind === 'download-failed') downloadFailed.set(Date.now())
  if (kind === 'bearer') void bearerOrNothing().then((bearer) => ports[0]?.postMessage(bearer))
})
navigator.serviceWorker?.startMessages()

async function bearerOrNothing(): Promise<string | undefined> {
  if (session.get().state !== 'signed-in') return undefined
  return (await askForBearer().catch(() => undefined))?.token
}

type Query = Readonly<Record<string, string>>

/** The address of a file's bytes, or of a variant of a picture. */
export function mediaAddress(fileId: string, access: MediaAccess, query: Query = {}): string {
  return addressOf(`/api/files/${encodeURIComponent(fileId)}`, access, query)
}

/** The address of the picture or the cover of an identity, on our own server. */
export function profilePictureAddress(
  idTag: string,
  access: MediaAccess,
  place: 'image' | 'cover' = 'image',
  query: Query = {},
): string {
  return addressOf(`/api/profiles/${encodeURIComponent(idTag)}/${place}`, access, query)
}

/** The address of an archive of a folder, or of some files. */
export function archiveAddress(of: string | readonly string[], access: MediaAccess): string {
  if (typeof of === 'string') return addressOf(`/api/files/${encodeURIComponent(of)}/zip`, access, {})
  return addressOf('/api/files/zip', access, { ids: of.join(',') })
}

function addressOf(path: string, { token }: MediaAccess, query: Query): string {
  const all = new URLSearchParams({ ...query, ...(token === undefined ? {} : { token }) }).toString()
  return `${path}${all && `?${all}`}${token === undefined ? bearerMark : ''}`
}

/** Has the browser ask for a picture again that it keeps. */
export async function reloadPicture(address: string): Promise<void> {
  await fetch(address, { cache: 'reload' }).catch(() => undefined)
}

/** Has the browser save what is at an address of media. */
export async function saveMedia(address: string, name: string): Promise<void> {
  if (!worker) return saveByLink(address, name)
  // Links that download pass the worker by, and other navigations would end this page's uploads.
  const { port1, port2 } = new MessageChannel()
  await new Promise((resolve) => {
    port1.onmessage = resolve
    tellWorker({ kind: 'download', address: address.replace(bearerMark, '') }, [port2])
  })
  port1.close()
  const frame = document.createElement('iframe')
  frame.hidden = true
  frame.src = address
  document.body.append(frame)
  // A large archive takes its time to begin.
  setTimeout(() => frame.remove(), 600_000)
}

/** Has the browser save what is at an address that needs no bearer; the server may name it. */
export function saveByLink(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}
