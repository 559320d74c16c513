import { describe, expect, test } from 'vitest'
import { labBytes } from '#harness/test-seed.ts'
import { Cookies, mayHaveServerCookie, readCookie } from './cookie.ts'
import { MalformedMessage } from './wire-reader.ts'

const startMs = Date.UTC(2026, 0, 1)
const ip = '192.0.2.1'
const sender = { ip, transport: 'udp' } as const
const client = Buffer.from('0011223344556677', 'hex')
const none = Buffer.alloc(0)

function openLab() {
  const clock = { nowMs: startMs, now: () => clock.nowMs }
  const cookies = new Cookies(clock)
  const given = cookies.check({ client, server: none }, sender).next()
  return { clock, cookies, given, server: given.subarray(8) }
}

test('are those of RFC 9018: a version, three zeros, the time, a hash', () => {
  const { given } = openLab()
  expect(given).toHaveLength(24)
  expect(given.subarray(0, 12)).toEqual(Buffer.concat([client, Buffer.of(1, 0, 0, 0)]))
  expect(given.readUInt32BE(12)).toBe(startMs / 1000)
})

describe('is known', () => {
  test.each<[string, number, boolean]>([
    ['at once', 0, true],
    ['for an hour', 3600, true],
    ['no longer', 3601, false],
    ['where the clock goes back by five minutes', -300, true],
    ['and not by more', -301, false],
  ])('%s', (_, laterSecs, isSenderKnown) => {
    const { clock, cookies, server } = openLab()
    clock.nowMs += laterSecs * 1000
    expect(cookies.check({ client, server }, sender)).toMatchObject({ isSenderKnown })
  })

  test('when the seconds of 32 bits begin anew', () => {
    const { clock, cookies } = openLab()
    clock.nowMs = (2 ** 32 - 10) * 1000
    const server = cookies.check({ client, server: none }, sender).next().subarray(8)
    clock.nowMs += 20_000
    expect(cookies.check({ client, server }, sender).isSenderKnown).toBe(true)
  })
})

describe('is not known', () => {
  const { cookies, server } = openLab()
  const changed = (at: number) => {
    const copy = Buffer.from(server)
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
    return copy
  }
  test.each<[string, Parameters<Cookies['check']>]>([
    ['without one', [{ client, server: none }, sender]],
    ['to another client', [{ client: labBytes(8), server }, sender]],
    [
      'from another address',
      [
        { client, server },
        { ...sender, ip: '192.0.2.2' },
      ],
    ],
    ['with another version', [{ client, server: changed(0) }, sender]],
    ['with something in the zeros', [{ client, server: changed(3) }, sender]],
    ['with another time', [{ client, server: changed(7) }, sender]],
    ['with another hash', [{ client, server: changed(15) }, sender]],
    ['cut', [{ client, server: server.subarray(0, 15) }, sender]],
    ['with more after it', [{ client, server: Buffer.concat([server, Buffer.of(0)]) }, sender]],
    ['of another process', [{ client, server: openLab().server }, sender]],
  ])('%s', (_, [cookie, from]) => {
    expect(cookies.check(cookie, from).isSenderKnown).toBe(false)
  })

  test('over TCP neither, but its sender is', () => {
    expect(cookies.check({ client, server: none }, { ip, transport: 'tcp' }).isSenderKnown).toBe(true)
  })
})

test('is given anew after half an hour, and to whom has a wrong one', () => {
  const { clock, cookies, given, server } = openLab()
  clock.nowMs += 1_800_000
  expect(cookies.check({ client, server }, sender).next()).toEqual(given)
  clock.nowMs += 1000
  const next = cookies.check({ client, server }, sender).next()
  expect(next.readUInt32BE(12)).toBe(clock.nowMs / 1000)
  expect(cookies.check({ client, server: next.subarray(8) }, sender).isSenderKnown).toBe(true)
  const wrong = cookies.check({ client, server: labBytes(16) }, sender).next()
  expect(wrong).toEqual(next)
})

describe('of options', () => {
  const option = (code: number, data: Buffer) => {
    const head = Buffer.alloc(4)
    head.writeUInt16BE(code)
    head.writeUInt16BE(data.length, 2)
    return Buffer.concat([head, data])
  }
  const cookie = (length: number) => option(10, Buffer.alloc(length, 1))

  test.each([8, 16, 24, 40])('has %s bytes', (length) => {
    const read = readCookie(Buffer.concat([option(3, none), cookie(length)]))
    expect([read?.client.length, read?.server.length]).toEqual([8, length - 8])
  })

  test.each([0, 1, 7, 9, 15, 41, 200])('has not %s bytes', (length) => {
    expect(() => readCookie(cookie(length))).toThrow(MalformedMessage)
  })

  test('that are cut cannot be read', () => {
    for (const end of [1, 4, 11])
      expect(() => readCookie(cookie(8).subarray(0, end))).toThrow(MalformedMessage)
  })

  test('is the first', () => {
    const options = Buffer.concat([option(8, labBytes(5)), option(10, client), cookie(24), cookie(3)])
    expect(readCookie(options)).toEqual({ client, server: none })
    expect(readCookie(option(8, client))).toBe(undefined)
  })

  test('is looked for only where one of this server may be', () => {
    expect([8, 16, 24, 40].map((length) => mayHaveServerCookie(cookie(length)))).toEqual([
      false,
      false,
      true,
      false,
    ])
  })
})
