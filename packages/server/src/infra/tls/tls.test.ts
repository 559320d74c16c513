import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createCertificate } from '#harness/certificates.ts'
import { TestClock } from '#harness/test-clock.ts'
import { CertificateFiles } from './certificate-files.ts'
import type { KeyPair } from './certificates.ts'
import { checkChain, isForName } from './chain.ts'
import { answerChallengeHandshakes } from './challenge-handshakes.ts'
import { readClientHello } from './client-hello.ts'
import { ServedCertificates } from './served-certificates.ts'

let alice: KeyPair
let bob: KeyPair
beforeAll(async () => {
  alice = await createCertificate(['alice.example'])
  bob = await createCertificate(['bob.example'])
})

/** The first bytes that a client of this process sends. */
async function helloOf(servername: string, ALPNProtocols: string[]): Promise<Buffer> {
  const bytes = Promise.withResolvers<Buffer>()
  const server = (await import('node:net')).createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (chunk: Buffer) => {
        bytes.resolve(chunk)
        socket.destroy()
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  connect({ port, host: '127.0.0.1', servername, ALPNProtocols }).on('error', () => undefined)
  const hello = await bytes.promise
  server.close()
  return hello
}

describe('the first message of a client', () => {
  test('names the host and the protocols, however it arrives', async () => {
    const hello = await helloOf('Alice.Example', ['h2', 'http/1.1'])
    const whole = { serverName: 'alice.example', protocols: ['h2', 'http/1.1'] }
    expect(readClientHello(hello)).toEqual(whole)
    for (let length = 0; length < hello.length; length += 7)
      expect(readClientHello(hello.subarray(0, length))).toBe('incomplete')
    // Cut into records of 100 bytes.
    const message = hello.subarray(5)
    const records: Buffer[] = []
    for (let at = 0; at < message.length; at += 100) {
      const part = message.subarray(at, at + 100)
      records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
    }
    expect(readClientHello(Buffer.concat(records))).toEqual(whole)
  })

  test('may be anything else', async () => {
    const hello = await helloOf('alice.example', ['acme-tls/1'])
    expect(readClientHello(Buffer.from('GET / HTTP/1.1\r\n'))).toBe('other')
    expect(readClientHello(Buffer.concat([hello, Buffer.alloc(20_000)]))).toBe('other')
    expect(readClientHello(Buffer.from([22, 3, 1, 0, 0]))).toBe('other')
    expect(readClientHello(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]))).toBe('other')
    expect(readClientHello(Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]))).toBe('other')
    // In very many records it would be read anew with each of them.
    const cut = Array.from({ length: 2_000 }, (_, at) => [22, 3, 1, 0, 1, [1, 0, 63, 0][at] ?? 0]).flat()
    expect(readClientHello(Buffer.from(cut))).toBe('other')
    // Whatever one byte is changed to, there is an answer.
    for (let at = 0; at < hello.length; at += 1)
      for (const value of [0, 1, 127, 255]) {
        const changed = Buffer.from(hello)
        changed[at] = value
        expect(() => readClientHello(changed)).not.toThrow()
      }
  })
})

describe('handshakes of authorities', () => {
  async function serve() {
    const clock = new TestClock()
    const server = createHttpsServer({ ...alice, ALPNProtocols: ['http/1.1'] }, (_, answer) =>
      answer.end('hello'),
    )
    server.on('tlsClientError', () => undefined)
    answerChallengeHandshakes(server, {
      clock,
      find: async (name) => (name === 'bob.example' ? bob : undefined),
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const shake = (servername: string, ALPNProtocols: string[]) =>
      new Promise<TLSSocket>((resolve, reject) => {
        const socket = connect(
          { port, host: '127.0.0.1', servername, ALPNProtocols, rejectUnauthorized: false },
          () => resolve(socket),
        )
        socket.once('error', reject)
      })
    return { clock, port, shake }
  }

  test('are proven to, where a proof is asked for; others go on', async () => {
    const { shake } = await serve()
    const proven = await shake('bob.example', ['acme-tls/1'])
    expect([proven.alpnProtocol, proven.getPeerCertificate().subject.CN]).toEqual([
      'acme-tls/1',
      'bob.example',
    ])
    await expect(shake('alice.example', ['acme-tls/1'])).rejects.toThrow()
    const visitor = await shake('bob.example', ['http/1.1'])
    expect(visitor.getPeerCertificate().subject.CN).toBe('alice.example')
    visitor.write('GET / HTTP/1.1\r\nhost: alice.example\r\nconnection: close\r\n\r\n')
    expect(String(await visitor.toArray())).toContain('hello')
    await expect(shake('bob.example', ['acme-tls/1', 'http/1.1'])).resolves.toMatchObject({
      alpnProtocol: 'http/1.1',
    })
  })

  test('have to come in time', async () => {
    const { clock, port, shake } = await serve()
    const slow = connectTcp(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume()
    slow.write(Buffer.from([22, 3, 1]))
    await once(slow, 'connect')
    await shake('bob.example', ['acme-tls/1'])
    const closed = new Promise((resolve) => slow.once('close', resolve))
    clock.advance(15_000)
    await closed
  })
})

function keyOnOddCurve(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

describe('a chain', () => {
  test('is taken with its key, for its names', () => {
    const { pem, notBefore, notAfter } = checkChain(`text before\n${alice.cert}\ntext after`, alice.key)
    expect(pem).not.toMatch(/text (before|after)/)
    expect(notAfter).toBeGreaterThan(notBefore)
    expect([isForName(pem, 'alice.example'), isForName(pem, 'bob.example')]).toEqual([true, false])
  })

  test.each([
    ['no certificate', () => ['', alice.key], 'no certificate'],
    ['another key', () => [alice.cert, bob.key], 'another key'],
    ['a key that browsers do not take', () => [alice.cert, keyOnOddCurve()], 'the curve secp256k1'],
    ['a key that is none', () => [alice.cert, 'key'], 'private key cannot be read'],
    ['one that did not issue it', () => [alice.cert + bob.cert, alice.key], 'not in order'],
    ['too many', () => [alice.cert.repeat(11), alice.key], 'too many'],
    [
      'junk',
      () => ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', alice.key],
      'cannot be read',
    ],
  ])('with %s is refused', (_, given, message) => {
    const [cert = '', key = ''] = given()
    expect(() => checkChain(cert, key)).toThrow(message)
  })
})

describe('certificates by name', () => {
  function lab() {
    const clock = new TestClock()
    const asked: string[] = []
    const kept = new Map([['alice.example', alice]])
    let isAway = false
    const goAway = () => {
      isAway = true
    }
    const errors: unknown[] = []
    const served = new ServedCertificates({
      clock,
      onError: (error) => void errors.push(error),
      async read(name) {
        asked.push(name)
        if (isAway) throw new Error('the database is away')
        return kept.get(name)
      },
    })
    return { clock, asked, errors, kept, served, goAway }
  }

  test('are read once in a while, and made anew when they have changed', async () => {
    const { clock, asked, kept, served } = lab()
    const [first, same] = await Promise.all([served.find('alice.example'), served.find('ALICE.example.')])
    expect(first).toBe(same)
    expect(asked).toEqual(['alice.example'])
    clock.advance(5_000)
    expect(await served.find('alice.example')).toBe(first)
    kept.set('alice.example', bob)
    clock.advance(5_000)
    const second = await served.find('alice.example')
    expect(second).not.toBe(first)
    kept.set('alice.example', alice)
    expect(await served.find('alice.example')).toBe(second)
    served.forget('alice.example')
    expect(await served.find('alice.example')).not.toBe(second)
  })

  test('that are not there are asked for once in a while, and names that are none never', async () => {
    const { asked, served } = lab()
    for (const name of ['x.example', 'x.example', 'localhost', '../x', 'a'.repeat(300), 'a..b', '*.example'])
      expect(await served.find(name)).toBeUndefined()
    expect(asked).toEqual(['x.example'])
  })

  test('stay while they cannot be read', async () => {
    const { clock, errors, served, goAway } = lab()
    const context = await served.find('alice.example')
    goAway()
    clock.advance(3_600_000)
    expect(await served.find('alice.example')).toBe(context)
    await expect(served.find('bob.example')).rejects.toThrow('away')
    expect(errors).toHaveLength(1)
  })
})

test('files of an operator are looked at again, and served only together', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'kith-files-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  const write = (pair: KeyPair) => Promise.all([writeFile(certFile, pair.cert), writeFile(keyFile, pair.key)])
  await write(alice)
  const refused: unknown[] = []
  const told: string[] = []
  const clock = new TestClock()
  const options = {
    certFile,
    keyFile,
    clock,
    onLoaded: () => undefined,
    onRefused: (error: unknown) => void refused.push(error),
  }
  await using files = await CertificateFiles.open(options)
  files.onDefault(({ cert }) => void told.push(cert.trim()))
  await write({ cert: bob.cert, key: alice.key })
  await files.reload()
  await rm(keyFile)
  await files.reload()
  expect(refused.map(String)).toEqual([
    'ChainError: The certificate belongs to another key.',
    `ChainError: ${keyFile} cannot be read.`,
  ])
  await write(bob)
  await files.reload()
  expect(told).toEqual([alice.cert.trim(), bob.cert.trim()])
  expect(createSecureContext(bob)).toBeDefined()
  await rm(keyFile)
  await files.reload()
  expect(refused).toHaveLength(3)
  // It is told once, however often the files are looked at.
  clock.advance(30_000)
  await files[Symbol.asyncDispose]()
  expect(refused).toHaveLength(3)
})
