import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '#harness/any-text.ts'
import { Secret } from '#lib/secret.ts'
import { openLogger } from './index.ts'
import type { OpenLoggerOptions } from './open-logger.ts'

function open(options: Partial<OpenLoggerOptions> = {}) {
  const lines: string[] = []
  const sink = { write: (line: string) => lines.push(line) }
  const logger = openLogger({ level: 'info', format: 'json', sink, ...options })
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> }
}

test('a line is one JSON object with time, level, message and details', () => {
  const { logger, lines, last } = open()
  logger.info({ reqId: 'r1', status: 200 }, 'Request served')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^\{.*\}\n$/)
  expect(last()).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    reqId: 'r1',
    status: 200,
    msg: 'Request served',
  })
})

test('levels below the chosen one are left out', () => {
  const { logger, lines } = open({ level: 'warn' })
  logger.info({}, 'no')
  logger.warn({}, 'yes')
  logger.child({ a: 1 }).debug({}, 'no')
  expect(lines).toHaveLength(1)
})

test('a child adds its details', () => {
  const { logger, last } = open()
  logger.child({ reqId: 'r1', token: 'hidden-token' }).child({ job: 'mail' }).error({ at: 1 }, 'Failed')
  expect(last()).toMatchObject({ level: 'error', reqId: 'r1', token: '[hidden]', job: 'mail', at: 1 })
})

test('an error is shown with its causes, at any depth', () => {
  const { logger, last } = open()
  const inner = Object.assign(new TypeError('inner'), { code: 'E_IN', apiKey: 'hidden-key' })
  const outer = new AggregateError([new Error('one of many')], 'outer', { cause: inner })
  logger.error({ err: outer, attempts: [{ error: inner }] }, 'Failed')
  expect(last()).toMatchObject({
    err: {
      message: 'outer',
      stack: expect.stringContaining('logger.test.ts'),
      errors: [{ message: 'one of many' }],
      cause: { name: 'TypeError', message: 'inner', code: 'E_IN', apiKey: '[hidden]' },
    },
    attempts: [{ error: { message: 'inner' } }],
  })
})

describe('hides by name', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'password',
    'newPassword',
    'token',
    'accessToken',
    'access_token',
    'x-qr-secret',
    'secret',
    'clientSecret',
    'S3_SECRET_ACCESS_KEY',
    'apiKey',
    'api_key',
    'privateKey',
    'MASTER_KEY',
    'swEncryptionKey',
    'ref',
    'refId',
    'jwt',
    'bearer',
    'auth',
  ])('%s', (name) => {
    const { logger, lines } = open()
    logger.info({ [name]: 'hunter22', deep: [{ inside: { [name]: ['hunter22'] } }] }, 'x')
    expect(lines.join()).not.toContain('hunter22')
    expect(lines.join()).toContain('[hidden]')
  })

  test.each(['publicKey', 'tokenUse', 'reference', 'keyId', 'dedupKey', 'author', 'kid'])(
    'but not %s',
    (name) => {
      const { logger, last } = open()
      logger.info({ [name]: 'shown' }, 'x')
      expect(last()[name]).toBe('shown')
    },
  )
})

const jwt = `eyJhbGciOiJFUzM4NCJ9.${'p'.repeat(40)}.${'s'.repeat(128)}`
describe('hides by look, wherever it stands', () => {
  test.each([
    ['a bearer', `Bearer ${jwt.slice(10)}`, jwt.slice(10)],
    ['a token', `could not verify ${jwt}`, jwt.slice(20)],
    ['an API key', `key sk_${'k'.repeat(43)}`, 'kkkk'],
    ['a key of the identity provider', `idp_${'k'.repeat(43)}`, 'kkkk'],
    ['a token in a query', 'GET /api/files/x?variant=tn&token=hunter22&download=1', 'hunter22'],
    ['a reference in a query', '/api/auth/access-token?refId=hunter22', 'hunter22'],
    ['an API key in a query', '/api/auth/access-token?apiKey=hunter22', 'hunter22'],
    ['a reference in a path', '/api/refs/abcdefghijklmnopqrstuvwx', 'abcdefghijkl'],
    ['a password in an address', 'connect to postgres://kith:hunter22@db.example/kith', 'hunter22'],
    ['a private key', `-----BEGIN PRIVATE KEY-----\nMIGh\n-----END PRIVATE KEY-----\n`, 'MIGh'],
    ['half a private key', `-----BEGIN EC PRIVATE KEY-----\nMIGh`, 'MIGh'],
  ])('%s', (_, shown, secret) => {
    const { logger, lines, last } = open()
    logger.warn({ url: shown, err: new Error(shown), list: [shown] }, shown)
    expect(lines.join()).not.toContain(secret)
    expect(last()).toMatchObject({ url: expect.stringContaining('[hidden]') })
  })

  test('and leaves the rest as it is', () => {
    const { logger, last } = open()
    const url = 'https://alice.example/api/actions?limit=20&type=POST#x'
    logger.info({ url, idTag: 'bob@alice.example', note: 'token of alice' }, 'The token is fine')
    expect(last()).toMatchObject({
      url,
      idTag: 'bob@alice.example',
      note: 'token of alice',
      msg: 'The token is fine',
    })
  })
})

test('a boxed secret and bytes do not show', () => {
  const { logger, last } = open()
  logger.info({ box: new Secret('hunter22'), bytes: new Uint8Array(32), big: 10n ** 20n }, 'x')
  expect(last()).toMatchObject({ box: '[hidden]', bytes: '[32 bytes]', big: '100000000000000000000' })
})

test('details without end are cut and circles are survived', () => {
  const { logger, lines } = open()
  const circle: Record<string, unknown> = { wide: Array.from({ length: 10_000 }, (_, at) => at) }
  circle.self = circle
  const error = new Error('round')
  error.cause = error
  logger.info({ circle, error }, 'x')
  expect(lines[0]?.length).toBeLessThan(20_000)
})

test('whatever is logged, a line is one JSON object', () => {
  fc.assert(
    fc.property(fc.object(), fc.string(), anyText, (details, message, odd) => {
      const { logger, lines } = open()
      logger.info({ ...details, odd, url: `https://x:${odd}@y?token=${odd}` }, message)
      expect(lines).toHaveLength(1)
      expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1)
      JSON.parse(lines[0] ?? '')
    }),
  )
})

test('an attacker’s text takes no more than linear time', () => {
  const { logger } = open()
  for (const text of [
    '://'.repeat(60_000),
    'eyJ.'.repeat(50_000),
    '?token='.repeat(30_000),
    'a-'.repeat(90_000),
  ]) {
    // Processor time, not that of a clock: twenty milliseconds where it is linear, minutes where it is quadratic.
    const started = process.cpuUsage()
    logger.info({ text }, 'x')
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000)
  }
})

describe('for people', () => {
  test('a line has the clock, the level, the message and the details', () => {
    const { logger, lines } = open({ format: 'pretty' })
    logger.warn({ status: 500, route: '/api/me', list: ['a'], note: 'two words' }, 'Request failed')
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}Request failed status=500 route=\/api\/me list=\["a"\] note="two words"\n$/,
    )
  })

  test('stacks follow below', () => {
    const { logger, lines } = open({ format: 'pretty' })
    logger.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'Failed')
    expect(lines[0]).toMatch(/Failed err=Error: outer\n {4}Error: outer\n {8}at /)
    expect(lines[0]).toContain('    Error: inner\n')
  })

  test('control characters do not reach the terminal, nor do secrets', () => {
    const { logger, lines } = open({ format: 'pretty' })
    logger.info({ agent: '\u001b[2J\u0007', token: 'hunter22' }, 'Hello\nINFO forged \u001b[31m')
    expect(lines[0]?.trimEnd()).not.toMatch(/\p{Cc}/u)
    expect(lines[0]).not.toContain('hunter22')
  })
})

test.each(['json', 'pretty'] as const)(
  'nothing in %s controls a terminal or turns the text around',
  (format) => {
    const { logger, lines } = open({ format })
    const odd = 'a\u0000\u001b[2J\u007f\u0085\u009b2J\u2028\u2029\u200f\u202e\u2066z'
    logger.warn({ idTag: odd, [odd]: 1, err: new Error(odd) }, odd)
    const written = lines
      .join('')
      .replace(/\n {4,8}(?=\S)/g, '')
      .trimEnd()
    expect(written).not.toMatch(/[\p{Cc}\u2028\u2029\p{Bidi_Control}]/u)
    expect(written).toContain('\\u009b2J\\u2028\\u2029\\u200f\\u202e\\u2066z')
  },
)

test('the log is on standard error, complete when the process ends, and standard output stays empty', async () => {
  const program = `
    import { openLogger } from ${JSON.stringify(import.meta.resolve('./index.ts'))}
    const logger = openLogger({ level: 'info', format: 'json' })
    for (let at = 0; at < 500; at += 1) logger.info({ at }, 'Line')
    await logger.flush()
    logger.info({ at: 500 }, 'Last')`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect(out).toBe('')
  expect(
    err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).at),
  ).toEqual(Array.from({ length: 501 }, (_, at) => at))
  expect(code).toBe(0)
})
