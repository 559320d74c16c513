import { createServer } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { listen } from './listen.ts'

async function ask(host: string, port: number): Promise<string> {
  const socket = connect(port, host)
  socket.write('GET / HTTP/1.0\r\n\r\n')
  return (await text(socket)).split('\r\n\r\n')[1] ?? ''
}

const hasIpv6 = Object.values(networkInterfaces()).some((own) =>
  own?.some(({ address }) => address === '::1'),
)

describe('a server on localhost', () => {
  test.skipIf(!hasIpv6)('answers at both of the addresses of the machine', async () => {
    const server = createServer((request, response) => response.end(request.socket.localAddress))
    const { port } = await listen(server, { host: 'localhost', port: 0 })
    expect([await ask('127.0.0.1', port), await ask('::1', port)]).toEqual(['127.0.0.1', '::1'])
    await new Promise((resolve) => server.close(resolve))
    await expect(ask('::1', port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('fails when its port is taken', async () => {
    const [first, second] = [createServer(), createServer()]
    const { port } = await listen(first, { host: '127.0.0.1', port: 0 })
    await expect(listen(second, { host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await new Promise((resolve) => first.close(resolve))
  })
})
