import { userInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { ConfigError } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'
import { usageOf } from './command.ts'
import { commands } from './commands.ts'
import { adviceOf, explanationOf, reportOf } from './failure-report.ts'

const names = commands.map(({ name }) => name)

/** A line that opens nothing. */
async function run(...words: string[]) {
  await using line = await CommandLine.open()
  return line.run(words)
}

describe('help', () => {
  test.each([[['help']], [['--help']], [['-h']]])('%j names every command', async (words) => {
    const { exitCode, out, err } = await run(...words)
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    for (const name of names) expect(out).toContain(`kith ${name} `)
  })

  test.each(commands)('of $name shows how it is called, and every option', async (command) => {
    const { exitCode, out } = await run('help', ...command.name.split(' '))
    expect(exitCode).toBe(0)
    expect(out).toContain(usageOf(command))
    expect(out).toContain(command.summary)
    for (const { meaning } of Object.values(command.options)) expect(out).toContain(meaning)
    expect(await run(...command.name.split(' '), '--help')).toMatchObject({ exitCode: 0, out })
  })

  test('of a first word names what begins with it', async () => {
    const { exitCode, out } = await run('tenant', '--help')
    expect(exitCode).toBe(0)
    expect(out).toContain('kith tenant create')
    expect(out).not.toContain('kith serve')
  })

  test('of no command fails', async () => {
    expect(await run('help', 'frobnicate')).toMatchObject({ exitCode: 2, out: '' })
    expect(await run('frobnicate', '--help')).toMatchObject({ exitCode: 2, out: '' })
  })
})

test.each(['--version', '-V', 'version'])('%s prints the version', async (word) => {
  expect(await run(word)).toEqual({ exitCode: 0, out: '0.1.0\n', err: '' })
})

describe('a line that is no command', () => {
  test('ends with 2 and says where all commands are', async () => {
    const { exitCode, out, err } = await run('frobnicate')
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toBe('Unknown command: frobnicate\n`kith help` shows all commands.\n')
  })

  test('begins with an option', async () => {
    expect(await run('--json', 'tenant', 'list')).toMatchObject({ exitCode: 2, out: '' })
  })

  test.each([
    ['tenent list', 'tenant list'],
    ['sevre', 'serve'],
    ['doctr', 'doctor'],
  ])('%s is near one', async (words, meant) => {
    expect((await run(...words.split(' '))).err).toBe(
      `Unknown command: ${words}. Did you mean kith ${meant}?\n\`kith help\` shows all commands.\n`,
    )
  })

  test('shows its relatives', async () => {
    const { err } = await run('tenant', 'rename')
    expect(err).toContain('kith tenant create')
    expect(err).not.toContain('kith serve')
  })

  test('is one document with --json', async () => {
    const { err } = await run('frobnicate', '--json')
    expect(JSON.parse(err)).toEqual({ error: { code: 'E-USAGE', message: 'Unknown command: frobnicate' } })
  })
})

test('control characters of an argument do not come back in an error', async () => {
  const words = ['tenant', 'create\u009b2J\u001b[2J']
  expect((await run(...words)).err).toContain('create\\u009b2J\\u001b[2J\n')
  const { err } = await run(...words, '--json')
  expect(err).not.toContain('\u009b')
  expect(JSON.parse(err).error.message).toBe(`Unknown command: ${words.join(' ')}`)
})

describe('a command that is called wrongly', () => {
  test.each([
    [['migrate', '--fast'], 'Unknown option --fast\n'],
    [['migrate', '-f'], 'Unknown option -f\n'],
    [
      ['tenant', 'create', 'a.localhost', '--passwrd=x'],
      'Unknown option --passwrd. Did you mean --password?\n',
    ],
    [['config', '--jsn'], 'Unknown option --jsn. Did you mean --json?\n'],
    [['keys', 'rotate'], 'IDTAG is missing'],
    [['config', 'more'], 'Too many arguments: "more"'],
    [['tenant', 'create', 'a.localhost', '--name'], "'--name <value>' argument missing"],
    [['tenant', 'purge', 'a.localhost', '--yes=no'], "Option '--yes' does not take an argument"],
  ])('ends with 2, says why and how it is called: %j', async (words, message) => {
    const { exitCode, out, err } = await run(...words)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain(message)
    expect(err).toContain(`Usage: kith ${words[0]}`)
    expect(err).toMatch(/\n`kith help [a-z ]+` tells more of it\.\n$/)
    expect(JSON.parse((await run(...words, '--json')).err).error.code).toBe('E-USAGE')
  })
})

const ownAdvice = `The user ${userInfo().username} may not use /x/y: run it as the owner, or choose another place.`

describe('a failure', () => {
  test('of the environment tells all problems', async () => {
    await using line = await CommandLine.open({ LISTEN: 'here', TLS: 'on' })
    const said = await line.run(['tenant', 'list'])
    expect(said).toMatchObject({ exitCode: 1, out: '' })
    expect(said.err).toMatch(
      /^The configuration is wrong:\n {2}TLS .*\n {2}LISTEN .*\nEvery variable is in docs\/operations\/configuration\.md\.\n$/,
    )
    const { error } = JSON.parse((await line.run(['tenant', 'list', '--json'])).err)
    expect(error).toMatchObject({ code: 'E-CONFIG', message: 'The configuration is wrong.' })
    expect(error.details.problems.map(({ variable }: { variable: string }) => variable)).toEqual([
      'TLS',
      'LISTEN',
    ])
  })

  test.each([
    [Object.assign(new Error('listen'), { code: 'EADDRINUSE' }), 'LISTEN'],
    [Object.assign(new Error('listen'), { code: 'EACCES', syscall: 'listen' }), 'docs/operations/tls.md'],
    [Object.assign(new Error('bind'), { code: 'EACCES', syscall: 'bind' }), 'Ports below 1024'],
    [Object.assign(new Error('open'), { code: 'EACCES', syscall: 'open', path: '/x/y' }), ownAdvice],
    [
      new Error('It cannot be read.', {
        cause: Object.assign(new Error('chmod'), { code: 'EPERM', syscall: 'chmod', path: '/x/y' }),
      }),
      ownAdvice,
    ],
    [new Failure('E-UNAVAILABLE', { cause: new Error('refused') }), 'kith doctor'],
    [
      new Error('It is away.', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
      'kith doctor',
    ],
    [new ConfigError([]), 'docs/operations/configuration.md'],
    [new TypeError('x'), 'report it'],
  ])('%s ends with what helps', (error, advice) => {
    expect(adviceOf(error)).toContain(advice)
  })

  test('that says everything has no advice', () => {
    const refused = Object.assign(new Error('connect'), { code: 'EACCES', syscall: 'connect' })
    expect(adviceOf(refused)).toBeUndefined()
    expect(adviceOf(new Failure('E-NOTFOUND', { message: 'No such tenant.' }))).toBeUndefined()
  })

  test('of the program is one line, with what caused it', () => {
    const cause = new Error('disk I/O error')
    expect(explanationOf(new Failure('E-UNAVAILABLE', { message: 'It is away.', cause })).join('\n')).toBe(
      'It is away. (disk I/O error)',
    )
    expect(explanationOf(new Error('no space', { cause: new Error('no space') }))).toEqual(['no space'])
    expect(reportOf('text')).toEqual({ code: 'E-INTERNAL', message: 'text' })
  })

  test('that is a mistake in the program comes with its stack, for people', () => {
    const mistake = new TypeError('x is not a function')
    expect(explanationOf(mistake).join('\n')).toContain('run-command-line.test.ts')
    expect(reportOf(mistake)).toEqual({ code: 'E-INTERNAL', message: 'x is not a function' })
  })

  test('of the configuration in the middle of the work is told by its variable', () => {
    const error = new ConfigError([{ variable: 'MASTER_KEY_FILE', message: 'does not exist' }])
    expect(explanationOf(error)).toEqual(['The configuration is wrong:', '  MASTER_KEY_FILE does not exist'])
  })
})
