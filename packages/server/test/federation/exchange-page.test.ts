import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repository } from '#harness/guide.ts'
import { type OriginServer, startOrigin } from '#harness/origin-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestNetwork } from '#harness/test-network.ts'
import type { TestServer } from '#harness/test-server.ts'

const page = readFileSync(join(repository, 'docs/protocol/exchange.md'), 'utf8')
const blocks = [...page.matchAll(/^```(http|json|text)\n([\s\S]*?)\n```$/gm)].map(([, kind, body = '']) => ({
  kind,
  body,
}))
const ofKind = (kind: string) => blocks.filter((block) => block.kind === kind).map(({ body }) => body)
const [delivery, question, description, receipt] = ofKind('http').map(messageOf)
const [header, payload] = ofKind('json')
const [derivation] = ofKind('text')

/** A message of the page in its parts, and as it is sent. */
function messageOf(source: string) {
  const [head = '', body = ''] = source.split('\n\n')
  const [start = '', ...lines] = head.split('\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
  ) as Record<string, string>
  return { start, headers, body, bytes: `${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}` }
}

type Message = ReturnType<typeof messageOf>

/** One of another server, with the blank line and the line ends of HTTP. */
function receivedOf(bytes: string): Message {
  return messageOf(bytes.replaceAll('\r\n', '\n'))
}

function given(message: Message | undefined): Message {
  if (!message) throw new Error('the page has not all messages')
  return message
}

describe('the exchange of docs/protocol/exchange.md', () => {
  const token = given(delivery).body
  const { actionId, issuerTag, audienceTag, nonce, iat } = JSON.parse(payload ?? '{}')
  let network: TestNetwork
  let server: TestServer
  let issuer: OriginServer

  beforeAll(async () => {
    network = new TestNetwork(new TestClock(iat * 1000))
    server = await network.add('one')
    network.announce(0, (await server.createTenant(audienceTag)).idTag)
    const { start, headers, body } = given(description)
    issuer = await startOrigin((_, answer) =>
      answer.writeHead(Number(start.split(' ')[1]), headers).end(body),
    )
    network.announceAt(issuerTag, issuer.url)
  })
  afterAll(async () => {
    await network[Symbol.asyncDispose]()
    await issuer[Symbol.asyncDispose]()
  })

  /** Sends the delivery as it stands on the page. */
  async function deliver(): Promise<Message> {
    const socket = connect(server.running.port, '127.0.0.1')
    socket.write(given(delivery).bytes)
    return receivedOf(await text(socket))
  }

  test('has the answer of the page, twice, after the question of the page', async () => {
    const expected = given(receipt)
    for (const answer of [await deliver(), await deliver()]) {
      expect(answer.start).toBe(expected.start)
      expect(answer.headers).toMatchObject(expected.headers)
      expect(answer.body).toBe(expected.body)
    }
    const asked = given(question)
    const { host, ...headers } = asked.headers
    expect(host).toBe(issuerTag)
    expect(issuer.requests.map(({ method, url }) => `${method} ${url} HTTP/1.1`)).toEqual([asked.start])
    expect(issuer.requests[0]?.headers).toMatchObject(headers)
    await server.settle()
    expect(await server.tokenOf(audienceTag, actionId)).toBe(token)
    expect(issuer.requests).toHaveLength(1)
  })

  test('has the lengths that it says', () => {
    for (const { headers, body } of [delivery, description, receipt].map(given))
      expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
  })

  test('has the header and the payload that are in the token', () => {
    const parts = token.split('.').map((part) => Buffer.from(part, 'base64url'))
    const compact = [header, payload].map((source) => JSON.stringify(JSON.parse(source ?? '')))
    expect(parts.slice(0, 2).map(String)).toEqual(compact)
    expect(parts[2]).toHaveLength(96)
  })

  test('derives the id as it says, byte by byte', () => {
    const input = Buffer.from(`${issuerTag}\n${nonce}`)
    const hash = createHash('sha256').update(input)
    const digest = hash.digest()
    expect(`a1~${digest.toString('base64url')}`).toBe(actionId)
    const values = Object.fromEntries(
      (derivation ?? '').split('\n').map((line) => line.split(/ += +/) as [string, string]),
    )
    expect(values).toEqual({
      issuerTag,
      nonce,
      'issuerTag ‖ 0x0a ‖ nonce, hex': input.toString('hex'),
      'SHA-256, hex': digest.toString('hex'),
      actionId,
    })
  })

  test('is a token of the vectors', () => {
    const file = join(repository, 'vectors/tokens/action-tokens.json')
    const { valid, now, issuers } = JSON.parse(readFileSync(file, 'utf8'))
    const vector = valid.find((it: { token: string }) => it.token === token)
    expect(vector).toMatchObject({ name: 'a follow, without content and visibility' })
    expect(now).toBe(iat)
    const { data } = JSON.parse(given(description).body)
    const { keys } = issuers.find((it: { idTag: string }) => it.idTag === issuerTag)
    expect(data.keys).toEqual(keys.slice(0, 1))
    expect(data.publicKey).toBe(keys[0].publicKey)
  })
})
