import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { HostedApp } from '../hosted-app.ts'
import { flowLimits } from '../messages/flow.ts'
import type { AppContext, AppMessage, EndReason, HostMessage } from '../messages/messages.ts'
import { AppSession, maxMalformed, type SessionOptions } from './app-session.ts'
import { AppUninstalled, ReadRefused } from './file-access.ts'
import { SocketRefused, type SocketRequest } from './relay.ts'

const context: AppContext = {
  theme: { scheme: 'light', contrast: 'normal' },
  language: 'en',
  user: { idTag: 'alice.example', name: 'Alice' },
  opened: { fileId: 'r1~x', name: 'List', contentType: 'x/y', kind: 'rtdb', access: 'write', size: 0 },
}

/** A WebSocket whose events the test makes. */
class FakeSocket {
  readyState: number = WebSocket.CONNECTING
  bufferedAmount = 0
  binaryType = ''
  onopen: (() => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  onclose: ((event: { code: number; reason: string }) => void) | null = null
  readonly url: string
  readonly sent: unknown[] = []
  /** What the server answers; undefined for nothing. */
  answer: (message: { type: string; id: number }) => object | undefined = () => undefined

  constructor(url: string) {
    this.url = url
  }

  open(): void {
    this.readyState = WebSocket.OPEN
    this.onopen?.()
  }

  send(data: unknown): void {
    this.sent.push(data)
    const answer = typeof data === 'string' && this.answer(JSON.parse(data))
    if (answer) queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(answer) }))
  }

  close(): void {
    this.readyState = WebSocket.CLOSED
  }

  end(code: number, reason: string): void {
    this.readyState = WebSocket.CLOSED
    this.onclose?.({ code, reason })
  }
}

function start(options: Partial<SessionOptions> = {}, of: AppContext = context) {
  const { port1, port2 } = new MessageChannel()
  const sockets: FakeSocket[] = []
  const requests: SocketRequest[] = []
  const ended: EndReason[] = []
  const session = new AppSession(port1, of, {
    capabilities: ['rtdb'],
    socketUrl: async (request) => {
      requests.push(request)
      return `wss://alice.example/ws/rtdb/r1~x?token=secret${requests.length}`
    },
    connect: (url) => {
      sockets.push(new FakeSocket(url))
      return sockets.at(-1) as unknown as WebSocket
    },
    readBytes: () => Promise.reject(new ReadRefused('gone')),
    end: (reason) => ended.push(reason),
    ...options,
  })
  onTestFinished(() => session.close('stopped'))
  return { session, port: port2, sockets, requests, ended }
}

/** The app as it speaks by itself, without the SDK. */
function speak(options: Partial<SessionOptions> = {}, of?: AppContext) {
  const started = start(options, of)
  const heard: HostMessage[] = []
  started.port.onmessage = ({ data }) => heard.push(data)
  const say = (message: AppMessage | object) => started.port.postMessage(message)
  const next = (type: HostMessage['type']) =>
    expect.poll(() => heard.find((message) => message.type === type)).toBeDefined()
  const opened = async (socket = 1) => {
    say({ type: 'open', socket, kind: 'rtdb' })
    await expect.poll(() => started.sockets.length).toBe(socket)
    const made = started.sockets[socket - 1] as FakeSocket
    made.open()
    await expect.poll(() => heard).toContainEqual({ type: 'opened', socket })
    return made
  }
  return { ...started, heard, say, next, opened }
}

describe('a socket of an app', () => {
  test('is relayed both ways, and what the network has taken is told', async () => {
    const { heard, say, opened } = speak()
    const socket = await opened()
    say({ type: 'send', socket: 1, data: '{"type":"ping"}' })
    await expect.poll(() => socket.sent).toEqual(['{"type":"ping"}'])
    await expect.poll(() => heard).toContainEqual({ type: 'sent', socket: 1, cost: 286 })
    socket.onmessage?.({ data: '{"type":"pong"}' })
    await expect.poll(() => heard).toContainEqual({ type: 'data', socket: 1, data: '{"type":"pong"}' })
    socket.end(4403, 'withdrawn')
    await expect
      .poll(() => heard)
      .toContainEqual({ type: 'closed', socket: 1, code: 4403, reason: 'withdrawn' })
    expect(JSON.stringify(heard)).not.toContain('secret')
  })

  test('is for the one file, whatever else the app names', async () => {
    const { say, requests } = speak()
    say({
      type: 'open',
      socket: 1,
      kind: 'rtdb',
      fileId: 'r1~other',
      url: 'wss://mallory.example',
      token: 't',
    })
    await expect.poll(() => requests).toEqual([{ kind: 'rtdb', access: undefined, presence: false }])
  })

  test('is not opened without the capability, of the wrong kind, or beyond two', async () => {
    const without = speak({ capabilities: [] })
    without.say({ type: 'open', socket: 1, kind: 'rtdb' })
    await without.next('closed')
    expect(without.heard[0]).toMatchObject({ code: 4403 })
    const { heard, say, sockets } = speak({ capabilities: ['crdt', 'rtdb'] })
    say({ type: 'open', socket: 1, kind: 'crdt' })
    await expect.poll(() => heard).toMatchObject([{ type: 'closed', socket: 1, code: 4409 }])
    for (const socket of [2, 3, 4]) say({ type: 'open', socket, kind: 'rtdb' })
    await expect.poll(() => heard).toContainEqual(expect.objectContaining({ socket: 4, code: 1013 }))
    expect(sockets).toHaveLength(2)
    expect(without.sockets).toEqual([])
  })

  test('is refused when the app has opened many within a minute: each costs a token', async () => {
    const { heard, say, requests } = speak()
    for (let socket = 1; socket <= flowLimits.opensPerMinute + 5; socket += 1) {
      say({ type: 'open', socket, kind: 'rtdb' })
      say({ type: 'close', socket })
    }
    await expect
      .poll(() => heard.filter((told) => told.type === 'closed' && told.code === 1013))
      .toHaveLength(5)
    expect(requests).toHaveLength(flowLimits.opensPerMinute)
  })

  test('ends with 1009 for a message that the server would not take', async () => {
    const { heard, say, opened } = speak()
    const socket = await opened()
    say({ type: 'send', socket: 1, data: 'x'.repeat(16 * 1024 ** 2 + 1) })
    await expect.poll(() => heard).toContainEqual(expect.objectContaining({ type: 'closed', code: 1009 }))
    expect(socket.sent).toEqual([])
  })

  test('ends with 1013 when the app does not read, or does not wait for the network', async () => {
    const slow = speak()
    const socket = await slow.opened()
    for (let at = 0; at < 5; at += 1) socket.onmessage?.({ data: new ArrayBuffer(32 * 1024 ** 2) })
    await expect
      .poll(() => slow.heard)
      .toContainEqual(expect.objectContaining({ type: 'closed', code: 1013 }))
    const fast = speak()
    const other = await fast.opened()
    other.bufferedAmount = 33 * 1024 ** 2
    fast.say({ type: 'send', socket: 1, data: 'x' })
    await expect
      .poll(() => fast.heard)
      .toContainEqual(expect.objectContaining({ type: 'closed', code: 1013 }))
  })
})

const picture: AppContext = {
  ...context,
  opened: {
    ...context.opened,
    fileId: 'b1~x',
    contentType: 'image/png',
    kind: 'blob',
    access: 'read',
    size: 2_500_000,
  },
}

describe('the bytes of the file', () => {
  const content = Uint8Array.from({ length: 2_500_000 }, (_, at) => at % 251)
  const readBytes = async (start: number, end: number) => content.slice(start, end).buffer
  const app = (options: Partial<SessionOptions> = {}) => {
    const started = start({ capabilities: ['files:read'], readBytes, ...options }, picture)
    return { ...started, app: new HostedApp(started.port, picture) }
  }

  test('are read in parts, and no more at a time than the host reads', async () => {
    const asked: [number, number][] = []
    let most = 0
    let now = 0
    const { app: opened } = app({
      readBytes: async (start, end) => {
        asked.push([start, end])
        now += 1
        most = Math.max(most, now)
        const bytes = await readBytes(start, end)
        now -= 1
        return bytes
      },
    })
    const file = await opened.file()
    expect(file).toMatchObject({ name: 'List', contentType: 'image/png', size: 2_500_000 })
    expect(new Uint8Array(await file.read())).toEqual(content)
    expect(asked).toEqual([
      [0, flowLimits.readBytes],
      [flowLimits.readBytes, 2 * flowLimits.readBytes],
      [2 * flowLimits.readBytes, 2_500_000],
    ])
    const parts = await Promise.all(Array.from({ length: 20 }, (_, at) => file.read(at, at + 1)))
    expect(parts.map((part) => new Uint8Array(part)[0])).toEqual([...content.slice(0, 20)])
    expect(most).toBeLessThanOrEqual(flowLimits.readsAtOnce)
    expect(new Uint8Array(await file.read(2_499_998, 9_000_000))).toEqual(content.slice(-2))
    for (const [start, end] of [
      [9, 3],
      [2_500_000, 2_500_001],
    ])
      expect((await file.read(start, end)).byteLength).toBe(0)
    const blob = await file.blob()
    expect([blob.size, blob.type]).toEqual([2_500_000, 'image/png'])
  })

  test.each([-1, 0.5, Number.NaN])('are not asked for at %s', async (place) => {
    const file = await app().app.file()
    await expect(file.read(place)).rejects.toThrow(RangeError)
  })

  test('say why they cannot be read', async () => {
    const file = await app({ readBytes: () => Promise.reject(new ReadRefused('gone')) }).app.file()
    await expect(file.text()).rejects.toMatchObject({ name: 'FileReadError', reason: 'gone' })
    const broken = await app({ readBytes: () => Promise.reject(new Error('offline')) }).app.file()
    await expect(broken.blob()).rejects.toMatchObject({ reason: 'unavailable' })
  })

  test('are refused without the capability, of a database, in large parts, or many at once', async () => {
    await expect((await app({ capabilities: ['rtdb'] }).app.file()).read()).rejects.toMatchObject({
      reason: 'refused',
    })
    const { heard, say } = speak({ capabilities: ['rtdb', 'files:read'], readBytes })
    say({ type: 'read', read: 1, start: 0, end: 1 })
    await expect.poll(() => heard).toEqual([{ type: 'failed', read: 1, reason: 'refused' }])
    const pending = () => new Promise<ArrayBuffer>(() => undefined)
    const wild = speak({ capabilities: ['files:read'], readBytes: pending }, picture)
    wild.say({ type: 'read', read: 1, start: 0, end: flowLimits.readBytes + 1 })
    wild.say({ type: 'read', read: 2, start: 5, end: 5 })
    for (let read = 3; read <= 3 + flowLimits.readsAtOnce; read += 1)
      wild.say({ type: 'read', read, start: 0, end: 1 })
    await expect
      .poll(() => wild.heard)
      .toEqual(
        [1, 2, 3 + flowLimits.readsAtOnce].map((read) => ({ type: 'failed', read, reason: 'refused' })),
      )
  })

  test('are not waited for when the host has ended the app', async () => {
    const { app: opened, session } = app({ readBytes: () => new Promise(() => undefined) })
    const file = await opened.file()
    const reading = Promise.allSettled(Array.from({ length: 9 }, () => file.read(0, 1)))
    await opened.file()
    session.close('stopped')
    for (const { status, reason } of (await reading) as PromiseRejectedResult[])
      expect([status, reason.reason]).toEqual(['rejected', 'ended'])
    await expect(file.read(0, 1)).rejects.toMatchObject({ reason: 'ended' })
  })
})

test('an app that is uninstalled is ended, whatever it does next', async () => {
  const gone = () => Promise.reject(new AppUninstalled())
  const { ended, say } = speak({ socketUrl: gone })
  say({ type: 'open', socket: 1, kind: 'rtdb' })
  await expect.poll(() => ended).toEqual(['uninstalled'])
  const reading = speak({ capabilities: ['files:read'], readBytes: gone }, picture)
  reading.say({ type: 'read', read: 1, start: 0, end: 1 })
  await expect.poll(() => reading.ended).toEqual(['uninstalled'])
})

test('an app that is uninstalled is ended with its socket, also when it does not connect again', async () => {
  let isInstalled = true
  const { ended, opened } = speak({
    socketUrl: async () => {
      if (!isInstalled) throw new AppUninstalled()
      return 'wss://alice.example/'
    },
  })
  const socket = await opened()
  isInstalled = false
  socket.end(1008, 'revoked')
  await expect.poll(() => ended).toEqual(['uninstalled'])
})

describe('what an app asks of its host', () => {
  test('is told with plain values', async () => {
    const heights: number[] = []
    const urls: string[] = []
    const titles: string[] = []
    const { port, session } = start({
      onResize: (height) => heights.push(height),
      onNavigate: ({ href }) => urls.push(href),
      onTitle: (title) => titles.push(title),
    })
    const app = new HostedApp(port, context)
    app.setHeight(300.2)
    app.setHeight(-5)
    app.setHeight(1e9)
    app.navigate('https://example.org/a?b#c')
    app.setTitle('x'.repeat(300))
    await expect.poll(() => titles).toEqual(['x'.repeat(200)])
    expect(heights).toEqual([301, 0, 100_000])
    expect(urls).toEqual(['https://example.org/a?b#c'])
    expect(session.malformed).toBe(0)
    for (const wrong of [
      'nowhere',
      'javascript:0',
      'https://a@example.org/',
      `https://example.org/${'ä'.repeat(1_000)}`,
    ])
      expect(() => app.navigate(wrong)).toThrow(TypeError)
  })

  test('is a title on one line that turns no text around', async () => {
    const titles: string[] = []
    const { say } = speak({ onTitle: (title) => titles.push(title) })
    say({ type: 'title', title: 'a\u202egnp.txt\nb\u2066c \u{1f469}\u200d\u{1f4bb}' })
    await expect.poll(() => titles).toEqual(['a gnp.txt b c \u{1f469}\u200d\u{1f4bb}'])
  })

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://example.org/x',
    'file:///etc/passwd',
    'mailto:a@example.org',
    'https://alice.example@mallory.example/',
    'https://:secret@mallory.example/',
    '//example.org',
    'https://',
    '',
    // Not long before it is written out.
    `https://example.org/${'ä'.repeat(1_000)}`,
  ])('is no navigation to %s', async (url) => {
    const urls: URL[] = []
    const { say, session } = speak({ onNavigate: (asked) => urls.push(asked) })
    say({ type: 'navigate', url })
    await expect.poll(() => session.malformed).toBe(1)
    expect(urls).toEqual([])
  })
})

describe('messages that make no sense', () => {
  test('are dropped and counted, and the app goes on', async () => {
    const { session, say, opened } = speak()
    for (const wrong of [{}, { type: 'open' }, { type: 'title', title: 7 }, { type: 'no' }]) say(wrong)
    await expect.poll(() => session.malformed).toBe(4)
    await opened()
    say({ type: 'open', socket: 1, kind: 'rtdb' })
    await expect.poll(() => session.malformed).toBe(5)
  })

  test('end it when there are a thousand', async () => {
    const { ended, say } = speak()
    for (let at = 0; at < maxMalformed; at += 1) say({ type: 'no' })
    await expect.poll(() => ended).toEqual(['malformed'])
  })
})

test('a flood ends the app', async () => {
  const { ended, say } = speak()
  for (let at = 0; at < 10_000; at += 1) say({ type: 'title', title: 'x' })
  await expect.poll(() => ended).toEqual(['flood'])
})

describe('the SDK by the port', () => {
  const pong = ({ type, id }: { type: string; id: number }) => {
    if (type === 'ping') return { type: 'pong', id }
    return type === 'query' ? { type: 'queryResult', id, data: [{ id: 'a', title: 'Milk' }] } : undefined
  }
  const answering = () => {
    const sockets: FakeSocket[] = []
    const connect = (url: string) => {
      const socket = new FakeSocket(url)
      socket.answer = pong
      sockets.push(socket)
      queueMicrotask(() => socket.open())
      return socket as unknown as WebSocket
    }
    return { sockets, connect }
  }
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true }))
  afterEach(() => void vi.useRealTimers())

  test('opens a database, comes back after an interruption, and is told why it has ended', async () => {
    const { sockets, connect } = answering()
    const states: string[] = []
    const { port, requests } = start({ connect, onState: (state) => states.push(state) })
    const app = new HostedApp(port, context)
    const database = await app.database({
      access: 'read',
      hasPresence: true,
      retry: { firstMs: 1, longestMs: 1 },
    })
    expect(await database.collection('items').get()).toEqual([{ id: 'a', title: 'Milk' }])
    expect(requests).toEqual([{ kind: 'rtdb', access: 'read', presence: true }])
    expect(states.at(-1)).toBe('saved')
    sockets[0]?.end(1006, '')
    await expect.poll(() => states).toContain('offline')
    expect(await database.collection('items').get()).toHaveLength(1)
    sockets[1]?.end(4403, 'withdrawn')
    await expect
      .poll(() => database.state)
      .toEqual({ kind: 'ended', code: 4403, reason: 'withdrawn', waiting: 0 })
    await expect.poll(() => states.at(-1)).toBe('ended')
  })

  test('gets another token after a refusal, and gives up when there is none', async () => {
    const { sockets, connect } = answering()
    let isSignedOut = false
    const socketUrl = async () => {
      if (isSignedOut) throw new SocketRefused(1008, 'E-AUTH-UNAUTH')
      return 'wss://alice.example/'
    }
    const { port } = start({ connect, socketUrl })
    const database = await new HostedApp(port, context).database({ retry: { firstMs: 1, longestMs: 1 } })
    await expect.poll(() => database.state.kind).toBe('open')
    sockets[0]?.end(1008, 'expired')
    await expect.poll(() => sockets.length).toBe(2)
    await expect.poll(() => database.state.kind).toBe('open')
    isSignedOut = true
    sockets[1]?.end(1008, 'revoked')
    await expect.poll(() => database.state).toMatchObject({ kind: 'ended', code: 1008 })
  })

  test('hears of another theme, and of its end', async () => {
    const { port, session } = start()
    const app = new HostedApp(port, context)
    const themes: string[] = []
    const reasons: string[] = []
    app.onChange(({ theme }) => themes.push(theme.scheme))
    app.onEnd((reason) => reasons.push(reason))
    session.update({ ...context, theme: { scheme: 'dark', contrast: 'more' } })
    await expect.poll(() => themes).toEqual(['dark'])
    expect(app.theme.contrast).toBe('more')
    session.close('navigated')
    await expect.poll(() => reasons).toEqual(['navigated'])
  })

  test('ends its connections when the host ends the app, and opens no others', async () => {
    const { connect, sockets } = answering()
    const { port, session } = start({ connect })
    const database = await new HostedApp(port, context).database({ retry: { firstMs: 1, longestMs: 1 } })
    await expect.poll(() => database.state.kind).toBe('open')
    session.close('stopped')
    await expect.poll(() => database.state.kind).toBe('ended')
    expect(sockets).toHaveLength(1)
  })

  test('refuses to open the file as what it is not', async () => {
    const { port } = start()
    await expect(new HostedApp(port, context).document()).rejects.toThrow('the file is of the kind rtdb')
  })
})
