import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

// Many servers in one process: each address of the loopback network is one. It prints its port.
// `127.1.x.y` takes what it is sent and never answers.
const arrivals = new Map<string, { readonly hosts: Set<string>; lastAtMs: number }>()

const server = createServer(async (request, answer) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/arrived') {
    const { hosts, lastAtMs } = arrivals.get(url.searchParams.get('actionId') ?? '') ?? { lastAtMs: 0 }
    answer.end(JSON.stringify({ count: hosts?.size ?? 0, lastAtMs }))
    return
  }
  const token = await text(request)
  const host = request.socket.localAddress?.replace('::ffff:', '') ?? ''
  if (host.startsWith('127.1.')) return
  const { actionId } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const arrived = arrivals.get(actionId) ?? { hosts: new Set<string>(), lastAtMs: 0 }
  arrived.hosts.add(host)
  arrived.lastAtMs = Date.now()
  arrivals.set(actionId, arrived)
  answer.writeHead(200, { 'content-type': 'application/json' })
  answer.end(JSON.stringify({ data: { actionId, status: 'received', verified: true } }))
})
server.listen(0, '0.0.0.0', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
