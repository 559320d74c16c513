import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { alice, type HttpSite, startHttpSite } from '#harness/http-site.ts'

let site: HttpSite
const begun: string[] = []
let release: () => void = () => undefined
afterEach(async () => {
  begun.length = 0
  await site.close()
})

/** A site whose `/slow` waits for `release`. */
async function start() {
  const { promise, resolve } = Promise.withResolvers<void>()
  release = resolve
  const route = (method: 'GET' | 'POST', path: string, waits: Promise<void> | undefined) => ({
    ...{ method, path },
    async handle() {
      begun.push(path)
      await waits
      return { status: 200, body: path }
    },
  })
  site = await startHttpSite([], {
    rawRoutes: [route('POST', '/slow', promise), route('GET', '/next', undefined)],
  })
  return connect(site.port, '127.0.0.1')
}

const ask = (method: string, path: string, ...more: string[]) =>
  [`${method} ${path} HTTP/1.1`, `Host: ${alice.idTag}`, ...more, '', ''].join('\r\n')
const slow = ask('POST', '/slow', 'Content-Length: 0')

test('a request that is sent ahead begins when the answer before it has ended', async () => {
  const socket = await start()
  socket.write(slow + ask('GET', '/next') + ask('GET', '/next', 'Connection: close'))
  await expect.poll(() => begun).toEqual(['/slow'])
  release()
  const answers = String(Buffer.concat(await socket.toArray()))
  expect(begun).toEqual(['/slow', '/next', '/next'])
  expect(answers.match(/\/(?:slow|next)(?=HTTP|$)/g)).toEqual(['/slow', '/next', '/next'])
})

test('what a client that has gone has sent ahead never begins', async () => {
  const socket = await start()
  socket.write(slow + ask('GET', '/next'))
  await expect.poll(() => begun).toEqual(['/slow'])
  socket.destroy()
  const { server } = site.server
  const count = promisify(server.getConnections.bind(server))
  await expect.poll(() => count()).toBe(0)
  release()
  await new Promise(setImmediate)
  expect(begun).toEqual(['/slow'])
})

test('a connection with more than a hundred requests ahead ends', async () => {
  const socket = await start()
  socket.on('error', () => undefined)
  socket.write(slow + ask('GET', '/next').repeat(101))
  await once(socket, 'close')
  expect(begun).toEqual(['/slow'])
  release()
})
