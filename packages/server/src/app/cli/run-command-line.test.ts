import { describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { ConfigError } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'
import { usageOf } from './command.ts'
import { commands } from './commands.ts'
import { explanationOf, reportOf } from './failure-report.ts'

const names = commands.map(({ name }) => name)

/** A line that opens nothing. */
async function run(...words: string[]) {
  await using line = await CommandLine.open()
  return line.run(words)
}

describe('help', () => {
  test.each([[[]], [['help']], [['--help']], [['-h']]])('%j names every command', async (words) => {
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

test('--version prints the version', async () => {
  expect(await run('--version')).toEqual({ exitCode: 0, out: '0.1.0\n', err: '' })
})

describe('a line that is no command', () => {
  test('ends with 2 and shows what there is', async () => {
    const { exitCode, out, err } = await run('frobnicate')
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toMatch(/^Unknown command: frobnicate\n\nUsage: kith COMMAND/)
  })

  test('begins with an option', async () => {
    expect(await run('--json', 'tenant', 'list')).toMatchObject({ exitCode: 2, out: '' })
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

describe('a command that is called wrongly', () => {
  test.each([
    [['migrate', '--fast'], "Unknown option '--fast'"],
    [['keys', 'rotate'], 'IDTAG is missing'],
    [['config', 'more'], 'Too many arguments: "more"'],
    [['tenant', 'create', 'a.localhost', '--name'], "'--name <value>' argument missing"],
    [['tenant', 'purge', 'a.localhost', '--yes=no'], "Option '--yes' does not take an argument"],
  ])('ends with 2, says why and how it is called: %j', async (words, message) => {
    const { exitCode, out, err } = await run(...words)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain(message)
    expect(err).toContain(`Usage: kith ${words[0]}`)
    expect(JSON.parse((await run(...words, '--json')).err).error.code).toBe('E-USAGE')
  })
})

describe('a failure', () => {
  test('of the environment tells all problems', async () => {
    await using line = await CommandLine.open({ LISTEN: 'here', TLS: 'on' })
    const said = await line.run(['tenant', 'list'])
    expect(said).toMatchObject({ exitCode: 1, out: '' })
    expect(said.err).toMatch(/^The configuration is wrong:\n {2}LISTEN .*\n {2}TLS .*\n$/)
    const { error } = JSON.parse((await line.run(['tenant', 'list', '--json'])).err)
    expect(error).toMatchObject({ code: 'E-CONFIG', message: 'The configuration is wrong.' })
    expect(error.details.problems.map(({ variable }: { variable: string }) => variable)).toEqual([
      'LISTEN',
      'TLS',
    ])
  })

  test('of the program is one line, with what caused it', () => {
    const cause = new Error('disk I/O error')
    expect(explanationOf(new Failure('E-UNAVAILABLE', { message: 'It is away.', cause }))).toBe(
      'It is away. (disk I/O error)',
    )
    expect(explanationOf(new Error('no space', { cause: new Error('no space') }))).toBe('no space')
    expect(reportOf('text')).toEqual({ code: 'E-INTERNAL', message: 'text' })
  })

  test('that is a mistake in the program comes with its stack, for people', () => {
    const mistake = new TypeError('x is not a function')
    expect(explanationOf(mistake)).toContain('run-command-line.test.ts')
    expect(reportOf(mistake)).toEqual({ code: 'E-INTERNAL', message: 'x is not a function' })
  })

  test('of the configuration in the middle of the work is told by its variable', () => {
    const error = new ConfigError([{ variable: 'MASTER_KEY_FILE', message: 'does not exist' }])
    expect(explanationOf(error)).toBe('The configuration is wrong:\n  MASTER_KEY_FILE does not exist')
  })
})
