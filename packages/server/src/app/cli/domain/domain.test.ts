import { getAuditLog, listDomainBlocks } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'

let beside: LineBesideServer
let line: CommandLine
let server: TestServer

beforeAll(async () => {
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

test('a domain is blocked and unblocked beside a running server', async () => {
  expect((await line.run(['domain', 'list'])).out).toBe('No domain is blocked.\n')
  const { block } = await line.json('domain', 'block', 'Spam.Example', '--reason', 'Noise')
  expect(block).toEqual({
    domain: 'spam.example',
    reason: 'Noise',
    createdBy: home,
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  const listed = await line.json('domain', 'list')
  expect(listed).toEqual({ blocks: [block], isComplete: true })
  expect((await (await server.as(home)).call(listDomainBlocks)).data).toEqual([block])
  expect((await line.run(['domain', 'list'])).out).toMatch(
    /^ {2}spam\.example +\d{4}-\d\d-\d\d +home\.localhost +Noise$/m,
  )
  expect(await line.run(['domain', 'unblock', 'spam.example'])).toEqual({
    exitCode: 0,
    out: 'spam.example is not blocked any more.\n',
    err: '',
  })
  const { data } = await (await server.as(home)).call(getAuditLog, {})
  const noted = data.filter(({ event }) => event.startsWith('domain.'))
  expect(noted.map(({ event, details }) => [event, details])).toEqual([
    ['domain.unblocked', { domain: 'spam.example', by: 'command line' }],
    ['domain.blocked', { domain: 'spam.example', reason: 'Noise', by: 'command line' }],
  ])
})

test('what is no domain, not blocked, or holds the server itself is refused', async () => {
  expect(await line.fails('domain', 'unblock', 'spam.example')).toEqual({
    exitCode: 1,
    code: 'E-NOTFOUND',
    message: 'spam.example is not blocked.',
  })
  for (const words of [
    ['block'],
    ['unblock'],
    ['block', 'no domain'],
    ['block', 'x.example', '--reason', ''],
  ])
    expect(await line.fails('domain', ...words), words.join(' ')).toMatchObject({ exitCode: 2 })
  expect(await line.fails('domain', 'block', home)).toMatchObject({
    exitCode: 2,
    message: 'domain holds this server itself',
  })
  expect(await line.json('domain', 'list')).toEqual({ blocks: [], isComplete: true })
})
