import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startDnsServer, type TestDnsServer } from '#harness/dns-server.ts'
import { createDnsResolver } from './create-dns-resolver.ts'
import type { DnsResolver } from './dns-resolver.ts'

let server: TestDnsServer
let resolver: DnsResolver

beforeEach(async () => {
  server = await startDnsServer()
  resolver = createDnsResolver({ servers: [server.address] })
})
afterEach(() => server[Symbol.asyncDispose]())

const found = (...records: string[]) => ({ kind: 'found', records })

describe('TXT', () => {
  test('joins the strings of a record and keeps the records apart', async () => {
    server.set('_service.a.example', 'TXT', ['v=1 server=https://', 'a.example'], 'other')
    const answer = await resolver.resolveTxt('_service.a.example')
    expect(answer.kind === 'found' && [...answer.records].sort()).toEqual([
      'other',
      'v=1 server=https://a.example',
    ])
  })

  test('is not found for an unknown name', async () => {
    expect(await resolver.resolveTxt('nobody.example')).toEqual({ kind: 'not-found' })
  })

  test('is not found for a name that has other records only', async () => {
    server.set('a.example', 'A', '198.51.100.1')
    expect(await resolver.resolveTxt('a.example')).toEqual({ kind: 'not-found' })
  })

  test('is not found for a name that cannot exist', async () => {
    expect(await resolver.resolveTxt(`${'a'.repeat(64)}.example`)).toEqual({ kind: 'not-found' })
    expect(await resolver.resolveTxt('a..example')).toEqual({ kind: 'not-found' })
    expect(server.questions).toEqual([])
  })

  test.each(['SERVFAIL', 'REFUSED', 'silent'] as const)(
    'is unreachable when the server is %s',
    async (how) => {
      server.set('a.example', 'TXT', 'text')
      server.fail(how)
      const hasty = createDnsResolver({ servers: [server.address], timeoutMs: 600 })
      expect(await hasty.resolveTxt('a.example')).toMatchObject({ kind: 'unreachable' })
    },
  )

  test('is unreachable when no server is there', async () => {
    const { address } = server
    await server[Symbol.asyncDispose]()
    const answer = await createDnsResolver({ servers: [address], timeoutMs: 600 }).resolveTxt('a.example')
    server = await startDnsServer()
    expect(answer).toMatchObject({ kind: 'unreachable' })
  })

  test('gives up after the time for one question, however many servers are silent', async () => {
    await using second = await startDnsServer()
    await using third = await startDnsServer()
    for (const silent of [server, second, third]) silent.fail('silent')
    const servers = [server.address, second.address, third.address]
    const answer = await createDnsResolver({ servers, timeoutMs: 300 }).resolveTxt('a.example')
    // Two tries of each would take twice as long.
    expect(answer).toMatchObject({ kind: 'unreachable', cause: { message: 'no answer within 300 ms' } })
  })

  test('looks at a bounded number of records', async () => {
    server.set('a.example', 'TXT', ...Array.from({ length: 40 }, (_, at) => `t${at}`))
    const answer = await resolver.resolveTxt('a.example')
    expect(answer.kind === 'found' && answer.records.length).toBe(32)
  })
})

describe('addresses', () => {
  test('are those of both families', async () => {
    server.set('a.example', 'A', '198.51.100.1', '198.51.100.2')
    server.set('a.example', 'AAAA', '2001:db8::1')
    const answer = await resolver.resolveAddresses('a.example')
    expect(answer.kind === 'found' && [...answer.records].sort()).toEqual([
      '198.51.100.1',
      '198.51.100.2',
      '2001:db8::1',
    ])
  })

  test('follow an alias', async () => {
    server.set('www.example', 'CNAME', 'host.example')
    server.set('host.example', 'A', '198.51.100.7')
    expect(await resolver.resolveAddresses('www.example')).toEqual(found('198.51.100.7'))
    expect(await resolver.resolveCname('www.example')).toEqual(found('host.example'))
  })

  test('of one family are enough', async () => {
    server.set('a.example', 'AAAA', '2001:db8::1')
    expect(await resolver.resolveAddresses('a.example')).toEqual(found('2001:db8::1'))
  })

  test('are not found, or unreachable, when no family has any', async () => {
    expect(await resolver.resolveAddresses('nobody.example')).toEqual({ kind: 'not-found' })
    server.fail('SERVFAIL')
    expect(await resolver.resolveAddresses('nobody.example')).toMatchObject({ kind: 'unreachable' })
  })

  test('come from the system too when that is asked for', async () => {
    expect(await resolver.resolveAddresses('localhost')).toEqual({ kind: 'not-found' })
    const local = createDnsResolver({ servers: [server.address], systemNames: true })
    const answer = await local.resolveAddresses('localhost')
    expect(answer.kind === 'found' && answer.records.some((address) => /^(127\.|::1$)/.test(address))).toBe(
      true,
    )
  })
})
