import { beforeAll, expect, test } from 'vitest'
import { createCertificate } from '#harness/certificates.ts'
import { startOrigin } from '#harness/origin-server.ts'
import type { DnsAnswer } from '#infra/dns/index.ts'
import { createEgress } from './create-egress.ts'

let own: Awaited<ReturnType<typeof createCertificate>>
let foreign: typeof own

beforeAll(async () => {
  own = await createCertificate(['kith.example'])
  foreign = await createCertificate(['other.example'])
})

const resolver = {
  resolveAddresses: async (): Promise<DnsAnswer> => ({ kind: 'found', records: ['127.0.0.1'] }),
}

async function call(
  port: number,
  { trust = [own.cert], host = 'kith.example' }: { trust?: readonly string[]; host?: string } = {},
) {
  const egress = createEgress({
    privateNetworks: true,
    resolver,
    userAgent: 'Kith/test',
    trustedCertificates: trust,
  })
  try {
    return await egress.request({ method: 'GET', url: `https://${host}:${port}/` })
  } finally {
    await egress.close()
  }
}

test('the name in the URL is what the server hears and must prove, not the address', async () => {
  await using server = await startOrigin((_, answer) => answer.end('ok'), { tls: own })
  expect((await call(server.port)).status).toBe(200)
  expect(server.requests).toMatchObject([
    { servername: 'kith.example', headers: { host: `kith.example:${server.port}` } },
  ])
})

test('a certificate that nobody trusts ends it', async () => {
  await using server = await startOrigin((_, answer) => answer.end('ok'), { tls: own })
  await expect(call(server.port, { trust: [] })).rejects.toMatchObject({ reason: 'tls' })
  expect(server.requests).toEqual([])
})

test('a certificate for another name ends it', async () => {
  await using server = await startOrigin((_, answer) => answer.end('ok'), { tls: foreign })
  await expect(call(server.port, { trust: [foreign.cert] })).rejects.toMatchObject({ reason: 'tls' })
  expect(server.requests).toEqual([])
})

test('a protocol older than TLS 1.2 ends it', async () => {
  const tls = { ...own, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  await using server = await startOrigin((_, answer) => answer.end('ok'), { tls })
  await expect(call(server.port)).rejects.toMatchObject({ reason: 'tls' })
})

test('plain http where https is expected ends it', async () => {
  await using server = await startOrigin((_, answer) => answer.end('ok'))
  await expect(call(server.port)).rejects.toMatchObject({ reason: 'tls' })
})

test('a redirect from https to http is refused', async () => {
  await using plain = await startOrigin((_, answer) => answer.end('ok'))
  const toPlain = `http://kith.example:${plain.port}/`
  await using server = await startOrigin((_, answer) => answer.writeHead(302, { location: toPlain }).end(), {
    tls: own,
  })
  await expect(call(server.port)).rejects.toMatchObject({ reason: 'refused' })
  expect(plain.requests).toEqual([])
})
