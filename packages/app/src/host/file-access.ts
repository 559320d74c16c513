import type { AppContext, ReadFailure } from '../messages/messages.ts'
import { SocketRefused, type SocketRequest } from './relay.ts'

/** One GET request to the API of the user's own server: the `data` of the answer. Rejects with an error that has the API's `code`. */
export type ApiGet = (path: string) => Promise<unknown>

export interface OpenedFile extends Pick<AppContext['opened'], 'fileId' | 'access'> {
  /** Who opens it, as the server's API names apps. */
  readonly app: { readonly publisherTag: string; readonly name: string }
  /** Where the user's own server is, when it is not the origin of this page. */
  readonly serverUrl?: string | undefined
  /** The identity on whose host the database or document is, when it is not that of this page. Bytes are read of the copy
   * here. */
  readonly home?: string | undefined
}

/** How the host reaches the file that it has opened for an app. */
export interface FileAccess {
  /** The address of a WebSocket to the file. */
  socketUrl(request: SocketRequest): Promise<string>
  /** The bytes from `start` to before `end`. */
  readBytes(start: number, end: number): Promise<ArrayBuffer>
}

/** The app is not installed any more. */
export class AppUninstalled extends Error {
  override readonly name = 'AppUninstalled'
}

/** Thrown by `readBytes`. */
export class ReadRefused extends Error {
  override readonly name = 'ReadRefused'
  readonly reason: ReadFailure

  constructor(reason: ReadFailure) {
    super(`the bytes cannot be read: ${reason}`)
    this.reason = reason
  }
}

const closeCodes: Readonly<Record<string, number>> = {
  'E-AUTH-UNAUTH': 1008,
  'E-AUTH-FORBIDDEN': 4403,
  'E-FILE-NOTFOUND': 4404,
}
const readFailures: Readonly<Record<number, ReadFailure>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'gone',
  416: 'refused',
}

/** Opens one file for one app: with a token that is good for nothing else and ends when the app is uninstalled, at the
 * host of this page, which calls that of the file (docs/protocol/apps.md, Tokens). */
export function fileAccess(get: ApiGet, file: OpenedFile): FileAccess {
  const { fileId, access, home, serverUrl = location.origin } = file
  const at = home === undefined ? '' : `at/${encodeURIComponent(home)}/`
  const newToken = () => tokenFor(get, file)
  const readingToken = keeping(newToken)
  return {
    async socketUrl({ kind, ...asked }) {
      const token = await newToken().catch(refuseSocket)
      const query = new URLSearchParams({ token })
      // Nothing that the app asks for gives more than the user has, or was shown to have.
      const wanted = access === 'read' ? access : asked.access
      if (wanted) query.set('access', wanted)
      if (kind === 'rtdb' && asked.presence) query.set('presence', '1')
      return `${serverUrl.replace(/^http/, 'ws')}/ws/${at}${kind}/${encodeURIComponent(fileId)}?${query}`
    },
    async readBytes(start, end) {
      const url = `${serverUrl}/api/files/${encodeURIComponent(fileId)}`
      const token = await readingToken().catch(refuseReading)
      const response = await fetchRange(url, { token, start, end })
      if (response.status !== 401) return bytesOf(response, end - start)
      const newer = await readingToken(token).catch(refuseReading)
      return bytesOf(await fetchRange(url, { token: newer, start, end }), end - start)
    },
  }
}

/** Answers the token that `make` gave the first time. A caller whose request was answered 401 names that token as `spent`: then another
 * one is made, once for all who ask meanwhile. */
function keeping(make: () => Promise<string>): (spent?: string) => Promise<string> {
  let kept: string | undefined
  let making: Promise<string> | undefined
  return async (spent) => {
    if (kept !== undefined && kept !== spent) return kept
    making ??= make().finally(() => {
      making = undefined
    })
    kept = await making
    return kept
  }
}

async function tokenFor(get: ApiGet, { fileId, access, app }: OpenedFile): Promise<string> {
  const query = new URLSearchParams({
    scope: `file:${fileId}:${access}`,
    app: `@${app.publisherTag}/${app.name}`,
  })
  const { token } = (await get(`/api/auth/access-token?${query}`).catch((error: unknown) => {
    throw codeOf(error) === 'E-NOTFOUND' ? new AppUninstalled() : error
  })) as { token: string }
  return token
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

function refuseSocket(error: unknown): never {
  const closeCode = closeCodes[codeOf(error)]
  throw closeCode === undefined ? error : new SocketRefused(closeCode, codeOf(error))
}

function refuseReading(error: unknown): never {
  const closeCode = closeCodes[codeOf(error)]
  if (closeCode === undefined) throw error
  throw new ReadRefused(closeCode === 4404 ? 'gone' : 'forbidden')
}

async function fetchRange(
  url: string,
  { token, start, end }: { readonly token: string; readonly start: number; readonly end: number },
): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, range: `bytes=${start}-${end - 1}` }
  return await fetch(url, { credentials: 'omit', headers })
}

async function bytesOf(response: Response, length: number): Promise<ArrayBuffer> {
  if (response.status !== 206) {
    // A whole answer may be long.
    await response.body?.cancel()
    throw new ReadRefused(readFailures[response.status] ?? 'unavailable')
  }
  const bytes = await response.arrayBuffer()
  if (bytes.byteLength !== length) throw new ReadRefused('refused')
  return bytes
}
