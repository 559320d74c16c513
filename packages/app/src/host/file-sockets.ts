import type { Capability } from '../messages/messages.ts'
import { SocketRefused, type SocketRequest } from './relay.ts'

/** One GET request to the API of the user's own server: the `data` of the answer. Rejects with an error that has the API's `code`. */
export type ApiGet = (path: string) => Promise<unknown>

export interface FileAddress {
  readonly fileId: string
  readonly kind: Capability
  /** What the user may do. */
  readonly access: 'read' | 'write'
  /** The identity on whose host the file is, when it is not that of this page. */
  readonly home?: string | undefined
}

const closeCodes: Readonly<Record<string, number>> = {
  'E-AUTH-UNAUTH': 1008,
  'E-AUTH-FORBIDDEN': 4403,
  'E-FILE-NOTFOUND': 4404,
  'E-NOTFOUND': 4404,
  'E-PROFILE-NOTFOUND': 4404,
}

/** Makes the URLs of WebSockets to one file. Each has a new access token, valid for that file alone; for a file on another
 * identity's host it is a proxy token, valid for five minutes. */
export function fileSockets(get: ApiGet, file: FileAddress): (request: SocketRequest) => Promise<string> {
  return async (request) => {
    const { origin, token } = await (file.home === undefined
      ? ownToken(get, file)
      : visitorToken(get, file.home))
    return socketUrl(origin, file, { ...request, token })
  }
}

interface Grant {
  readonly origin: string
  readonly token: string
}

async function ownToken(get: ApiGet, { fileId, access }: FileAddress): Promise<Grant> {
  const scope = encodeURIComponent(`file:${fileId}:${access}`)
  const { token } = (await get(`/api/auth/access-token?scope=${scope}`).catch(refuse)) as { token: string }
  return { origin: location.origin, token }
}

async function visitorToken(get: ApiGet, home: string): Promise<Grant> {
  const path = `/api/auth/proxy-token?target=${encodeURIComponent(home)}`
  const { token, serverUrl } = (await get(path).catch(refuse)) as { token: string; serverUrl: string }
  return { origin: serverUrl, token }
}

function refuse(error: unknown): never {
  const { code } = error as { code?: unknown }
  const closeCode = closeCodes[String(code)]
  throw closeCode === undefined ? error : new SocketRefused(closeCode, String(code))
}

function socketUrl(
  origin: string,
  { fileId, kind, access }: FileAddress,
  asked: SocketRequest & { readonly token: string },
): string {
  const query = new URLSearchParams({ token: asked.token })
  // Nothing that the app asks for gives more than the user has, or was shown to have.
  if (access === 'read' || asked.access === 'read') query.set('access', 'read')
  else if (asked.access === 'write') query.set('access', 'write')
  if (kind === 'rtdb' && asked.presence) query.set('presence', '1')
  return `${origin.replace(/^http/, 'ws')}/ws/${kind}/${encodeURIComponent(fileId)}?${query}`
}
