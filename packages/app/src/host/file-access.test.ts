import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fileAccess, type OpenedFile } from './file-access.ts'

interface Asked {
  readonly url: string
  readonly authorization: string | null
  readonly range: string | null
}

const fetched: Asked[] = []
let answers: Response[] = []
beforeEach(() => {
  vi.stubGlobal('location', { origin: 'https://alice.example' })
  vi.stubGlobal('fetch', async (url: string, { headers }: RequestInit) => {
    const sent = new Headers(headers)
    fetched.push({ url, authorization: sent.get('authorization'), range: sent.get('range') })
    return answers.shift()
  })
})
afterEach(() => {
  fetched.length = 0
  vi.unstubAllGlobals()
})

const app = { publisherTag: 'carol.example', name: 'To-do list' }
const file: OpenedFile = { fileId: 'r1~x', access: 'write', app }
const plain = { kind: 'rtdb', access: undefined, presence: false } as const

/** The API paths that were asked for, each of which gave another token. */
function opening(given: Partial<OpenedFile> = {}) {
  const asked: string[] = []
  const get = async (path: string) => ({ token: `t${asked.push(path)}` })
  return { asked, access: fileAccess(get, { ...file, ...given }) }
}

const failing = (code: string) => fileAccess(() => Promise.reject(Object.assign(new Error(), { code })), file)
const thrown = (work: Promise<unknown>) => work.catch((error: unknown) => error)
const part = (text: string) => new Response(text, { status: 206 })

describe('the address of a socket', () => {
  test('has a token for the one file and the app', async () => {
    const { asked, access } = opening()
    expect(await access.socketUrl(plain)).toBe('wss://alice.example/ws/rtdb/r1~x?token=t1')
    expect(asked).toEqual([
      '/api/auth/access-token?scope=file%3Ar1%7Ex%3Awrite&app=%40carol.example%2FTo-do+list',
    ])
    expect(await access.socketUrl({ ...plain, kind: 'crdt' })).toContain('/ws/crdt/r1~x?token=t2')
  })

  test("is the gateway's where the file is at another identity's host", async () => {
    const { access } = opening({ home: 'bob.example' })
    expect(await access.socketUrl(plain)).toBe('wss://alice.example/ws/at/bob.example/rtdb/r1~x?token=t1')
  })

  test('is that of the server which the page names', async () => {
    const { access } = opening({ serverUrl: 'http://127.0.0.1:8080' })
    expect(await access.socketUrl(plain)).toBe('ws://127.0.0.1:8080/ws/rtdb/r1~x?token=t1')
  })

  test('gives a reader no more than reading, whatever the app asks for', async () => {
    const { asked, access } = opening({ access: 'read' })
    const url = await access.socketUrl({ ...plain, access: 'write', presence: true })
    expect(url).toBe('wss://alice.example/ws/rtdb/r1~x?token=t1&access=read&presence=1')
    expect(asked[0]).toContain('scope=file%3Ar1%7Ex%3Aread&')
    const { access: writing } = opening()
    expect(await writing.socketUrl({ ...plain, access: 'read' })).toContain('&access=read')
    expect(await writing.socketUrl({ ...plain, access: 'write' })).toContain('&access=write')
  })

  test.each([
    ['E-AUTH-UNAUTH', { name: 'SocketRefused', code: 1008 }],
    ['E-AUTH-FORBIDDEN', { name: 'SocketRefused', code: 4403 }],
    ['E-FILE-NOTFOUND', { name: 'SocketRefused', code: 4404 }],
    ['E-NOTFOUND', { name: 'AppUninstalled' }],
    ['offline', { code: 'offline' }],
  ])('is not there after %s', async (code, error) => {
    expect(await thrown(failing(code).socketUrl(plain))).toMatchObject(error)
  })
})

describe('bytes', () => {
  test('are asked for with one token, as long as it is good', async () => {
    const { asked, access } = opening({ fileId: 'b1~x', access: 'read' })
    answers = [part('ab'), part('cd'), new Response('', { status: 401 }), part('ef')]
    const texts = []
    for (const start of [0, 2, 4])
      texts.push(new TextDecoder().decode(await access.readBytes(start, start + 2)))
    expect(texts).toEqual(['ab', 'cd', 'ef'])
    expect(asked).toHaveLength(2)
    expect(fetched.map(({ authorization, range }) => [authorization, range])).toEqual([
      ['Bearer t1', 'bytes=0-1'],
      ['Bearer t1', 'bytes=2-3'],
      ['Bearer t1', 'bytes=4-5'],
      ['Bearer t2', 'bytes=4-5'],
    ])
    expect(fetched[0]?.url).toBe('https://alice.example/api/files/b1~x')
  })

  test('that are read together share a token', async () => {
    const { asked, access } = opening()
    answers = [part('a'), part('b')]
    await Promise.all([access.readBytes(0, 1), access.readBytes(1, 2)])
    expect(asked).toHaveLength(1)
  })

  test.each([
    [new Response('', { status: 403 }), 'forbidden'],
    [new Response('', { status: 404 }), 'gone'],
    [new Response('', { status: 416 }), 'refused'],
    [new Response('', { status: 503 }), 'unavailable'],
    [new Response('ab', { status: 200 }), 'unavailable'],
    [part('abc'), 'refused'],
  ])('are refused after an answer %#', async (answer, reason) => {
    answers = [answer]
    const { access } = opening()
    expect(await thrown(access.readBytes(0, 2))).toMatchObject({ name: 'ReadRefused', reason })
  })

  test.each([
    ['E-AUTH-UNAUTH', { reason: 'forbidden' }],
    ['E-FILE-NOTFOUND', { reason: 'gone' }],
    ['E-NOTFOUND', { name: 'AppUninstalled' }],
    ['offline', { code: 'offline' }],
  ])('are not asked for after %s', async (code, error) => {
    expect(await thrown(failing(code).readBytes(0, 1))).toMatchObject(error)
    expect(fetched).toEqual([])
  })

  test('can be read again when no token could be had before', async () => {
    let isOffline = true
    const get = async () => {
      if (isOffline) throw new Error('offline')
      return { token: 't' }
    }
    const access = fileAccess(get, file)
    await expect(access.readBytes(0, 1)).rejects.toThrow('offline')
    isOffline = false
    answers = [part('a')]
    expect((await access.readBytes(0, 1)).byteLength).toBe(1)
  })
})
