import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createFile } from '@kith/protocol'
import { expect, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'
import { TestServer } from '#harness/test-server.ts'

const program = fileURLToPath(new URL('short-program.ts', import.meta.url))
const home = 'home.localhost'

/** Fails when it does not end by itself. */
const run = (port: number, ...args: string[]) =>
  promisify(execFile)(process.execPath, [program, `http://127.0.0.1:${port}`, ...args], { timeout: 60_000 })

test('a program ends when everything is closed', async () => {
  await using server = await TestServer.start()
  const token = await server.signIn(home)
  const create = async (fileTp: 'CRDT' | 'RTDB') =>
    (await server.client(home, token).call(createFile, { body: { fileTp } })).data.fileId
  const files = [await create('RTDB'), await create('CRDT')]
  expect(await run(server.port, token, ...files, 'answers')).toEqual({
    stdout: 'done,done,done\n',
    stderr: '',
  })
  expect(await run(server.port, token, ...files)).toEqual({ stdout: '', stderr: '' })
})

test('also where there is no server, which it says once for each connection', async () => {
  const { stderr } = await run(closedPort, 'token', 'r1~x', 'f1~x', 'failures')
  const line = `the connection to ws://127.0.0.1:${closedPort} failed: 1006. Further attempts are made until close().\n`
  expect(stderr).toBe(line.repeat(3))
})

test('also where the server never answers', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  try {
    const { port } = silent.address() as AddressInfo
    const { stdout } = await run(port, 'token', 'r1~x', 'f1~x', 'answers', '300')
    expect(stdout).toBe('ConnectionLost 1006,ConnectionLost 1006,ConnectionLost 1006\n')
    expect(await run(port, 'token', 'r1~x', 'f1~x')).toEqual({ stdout: '', stderr: '' })
  } finally {
    for (const socket of sockets) socket.destroy()
    silent.close()
  }
})
