import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Kith } from './kith.ts'

/** Creates an empty document or database. Resolves with the URL of its WebSocket, token included. */
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

/** Opens a WebSocket; `onMessage` gets every message from the first one on. Throws when the server closes it. */
export async function openSocket(url: string, onMessage: (message: Buffer) => void): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  socket.on('message', (data) => onMessage(data as Buffer))
  socket.on('close', (code) => {
    if (code !== 1000 && code !== 1005) throw new Error(`a socket was closed with ${code}`)
  })
  await once(socket, 'open')
  return socket
}

/** Polls every 5 ms until the condition holds. Rejects after `withinMs`. */
export async function until(isSo: () => boolean, withinMs = 15_000): Promise<void> {
  const lateAt = performance.now() + withinMs
  while (!isSo()) {
    if (performance.now() > lateAt) throw new Error(`the condition did not hold within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
