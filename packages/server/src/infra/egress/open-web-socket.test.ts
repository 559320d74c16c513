import { afterAll, expect, test } from 'vitest'
import { type OriginServer, startOrigin } from '#harness/origin-server.ts'
import { type OpenWebSocket, webSocketOpener } from './open-web-socket.ts'

const origins: OriginServer[] = []
afterAll(() => Promise.all(origins.map((origin) => origin.close())))

/** A name that the DNS gives this address. */
function opener(privateNetworks: boolean, address = '127.0.0.1'): OpenWebSocket {
  const resolver = { resolveAddresses: async () => ({ kind: 'found', records: [address] }) as const }
  return webSocketOpener({ privateNetworks, resolver, userAgent: 'test' })
}

function open(openWebSocket: OpenWebSocket, url: string) {
  const signal = new AbortController().signal
  const others = { headers: {}, maxMessageBytes: 1000, signal, onConnection: () => undefined }
  return openWebSocket({ url, ...others })
}

test.each([
  ['https://127.0.0.1/ws'],
  ['https://[::1]/ws'],
  ['https://10.0.0.1/ws'],
  ['https://inside.example/ws'],
  ['http://outside.example/ws'],
  ['https://user:secret@outside.example/ws'],
  ['https://outside.example:22/ws'],
  ['file:///etc/passwd'],
])('refuses %s', async (url) => {
  await expect(open(opener(false), url)).rejects.toMatchObject({ name: 'EgressError', reason: 'refused' })
})

test.each([
  [302, { location: 'http://127.0.0.1:1/' }],
  [200, {}],
  [401, {}],
])('does not take %i for a socket, nor follow it', async (status, headers) => {
  const origin = await startOrigin((_, answer) => answer.writeHead(status, headers).end())
  origins.push(origin)
  await expect(open(opener(true), `${origin.url}/ws`)).rejects.toMatchObject({
    name: 'UpgradeRefused',
    status,
  })
  expect(origin.requests.length).toBe(1)
})
