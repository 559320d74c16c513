import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Kith } from './kith.ts'

/** Makes an empty file of a kind that is spoken to over sockets; answers the address of its socket. */
export async function realtimeFile(kith: Kith, token: string, fileTp: 'CRDT' | 'RTDB'): Promise<string> {
  const response = await fetch(`${kith.url}/api/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ fileTp }),
  })
  if (response.status !== 201) throw new Error(`the file answered ${response.status}`)
  const { data } = (await response.json()) as { data: { fileId: string } }
  const path = `/ws/${fileTp.toLowerCase()}/${encodeURIComponent(data.fileId)}`
  return `${kith.url.replace('http', 'ws')}${path}?token=${token}`
}

/** An open socket; what comes from its first message on is heard. */
export async function openSocket(url: string, hear: (message: Buffer) => void): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  socket.on('message', (data) => hear(data as Buffer))
  socket.on('close', (code) => {
    if (code !== 1000 && code !== 1005) throw new Error(`a socket was closed with ${code}`)
  })
  await once(socket, 'open')
  return socket
}

/** Asks again and again whether something has come about. */
export async function until(isSo: () => boolean, withinMs = 15_000): Promise<void> {
  const lateAt = performance.now() + withinMs
  while (!isSo()) {
    if (performance.now() > lateAt) throw new Error('what was awaited did not come')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
