import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type FileAddress, fileSockets } from './file-sockets.ts'
import { SocketRefused } from './relay.ts'

beforeEach(() => void vi.stubGlobal('location', { origin: 'https://alice.example' }))
afterEach(() => void vi.unstubAllGlobals())

const file: FileAddress = { fileId: 'r1~x', kind: 'rtdb', access: 'write' }
const plain = { kind: 'rtdb', access: undefined, presence: false } as const

/** The URL of a socket, and the API paths that were requested for it. */
async function addressOf(address: Partial<FileAddress>, request: object = {}) {
  const asked: string[] = []
  const get = async (path: string) => {
    asked.push(path)
    return { token: 'a.b', serverUrl: 'https://bob.example:8443' }
  }
  const url = await fileSockets(get, { ...file, ...address })({ ...plain, ...request })
  return { url, asked }
}

describe('the address of a socket', () => {
  test('has a token for the one file', async () => {
    expect(await addressOf({})).toEqual({
      url: 'wss://alice.example/ws/rtdb/r1~x?token=a.b',
      asked: ['/api/auth/access-token?scope=file%3Ar1~x%3Awrite'],
    })
  })

  test("is on the owner's server, with a proxy token, where the file is another's", async () => {
    expect(await addressOf({ home: 'bob.example', kind: 'crdt', fileId: 'f1~x' }, { kind: 'crdt' })).toEqual({
      url: 'wss://bob.example:8443/ws/crdt/f1~x?token=a.b',
      asked: ['/api/auth/proxy-token?target=bob.example'],
    })
  })

  test('gives a reader no more than reading, whatever the app asks for', async () => {
    const { url, asked } = await addressOf({ access: 'read' }, { access: 'write', presence: true })
    expect(url).toBe('wss://alice.example/ws/rtdb/r1~x?token=a.b&access=read&presence=1')
    expect(asked).toEqual(['/api/auth/access-token?scope=file%3Ar1~x%3Aread'])
    expect((await addressOf({}, { access: 'read' })).url).toContain('&access=read')
    expect((await addressOf({}, { access: 'write' })).url).toContain('&access=write')
  })

  test.each([
    ['E-AUTH-UNAUTH', 1008],
    ['E-AUTH-FORBIDDEN', 4403],
    ['E-FILE-NOTFOUND', 4404],
    ['E-PROFILE-NOTFOUND', 4404],
  ])('is refused for good after %s', async (code, closeCode) => {
    const failing = fileSockets(() => Promise.reject(Object.assign(new Error(), { code })), file)
    const error = await failing(plain).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SocketRefused)
    expect(error).toMatchObject({ code: closeCode })
  })

  test('may be had later after any other failure', async () => {
    const offline = Object.assign(new Error('offline'), { code: 'offline' })
    await expect(fileSockets(() => Promise.reject(offline), file)(plain)).rejects.toBe(offline)
  })
})
