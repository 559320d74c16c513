import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Command } from '#app/cli/command.ts'
import { commands } from '#app/cli/commands.ts'
import { callsIn, type GuideBlock, readGuide, repository } from './harness/guide.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/apps.md',
  'packages/app/README.md',
  ...['docs/guides', 'docs/operations'].flatMap((folder) =>
    readdirSync(join(repository, folder))
      // Made from the table of commands.
      .filter((name) => name.endsWith('.md') && name !== 'command-line.md')
      .map((name) => `${folder}/${name}`),
  ),
]
const blocks = pages.flatMap(readGuide)
const scripts = Object.keys(JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).scripts)

const findCommand = (words: readonly string[]): Command | undefined =>
  commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))

/** What is wrong with a call of the program. */
function faultOf(words: readonly string[]): string | undefined {
  if (words[0] === '--help' || words[0] === '--version') return undefined
  const command = findCommand(words)
  if (!command) return `there is no command ${words.slice(0, 2).join(' ')}`
  const rest = words.slice(command.name.split(' ').length)
  let given = 0
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? ''
    if (!word.startsWith('--')) given += 1
    else {
      const [name = '', value] = word.slice(2).split('=')
      const option = name === 'json' ? { type: 'boolean' } : command.options[name]
      if (!option) return `${command.name} has no option --${name}`
      if (option.type === 'string' && value === undefined) at += 1
    }
  }
  const least = command.positionals.filter((name) => !name.startsWith('[')).length
  const isRight = given >= least && given <= command.positionals.length
  return isRight ? undefined : `${command.name} takes ${command.positionals.join(' ') || 'no words'}`
}

/** The calls of the program in a script, and of scripts of the repository. */
function faultsIn(script: string): string[] {
  return callsIn(script).flatMap((words) => {
    const [program, first, second = '', flag, workspace] = words
    if (program === 'npm' && first === 'run') {
      const known = flag === '-w' ? scriptsOf(workspace) : scripts
      return known.includes(second) ? [] : [`npm run ${second}`]
    }
    const at = program === 'docker' ? words.indexOf('kith', words.indexOf('kith') + 1) : 0
    if (words[at] !== 'kith') return []
    return faultOf(words.slice(at + 1)) ?? []
  })
}

/** The scripts of a workspace, by the name of its package. */
function scriptsOf(workspace = ''): string[] {
  const manifest = join(repository, workspace.replace('@kith/', 'packages/'), 'package.json')
  return Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).scripts ?? {})
}

test('the checker finds what is wrong', () => {
  expect(
    callsIn('sudo --user=kith env A=b kith backup --to \'/a b\' && npm run x | grep "#" # kith no'),
  ).toEqual([
    ['kith', 'backup', '--to', '/a b'],
    ['npm', 'run', 'x'],
    ['grep', '#'],
  ])
  expect(faultsIn('kith backup --too /x')).toEqual(['backup has no option --too'])
  expect(faultsIn('docker compose exec kith kith doktor')).toEqual(['there is no command doktor'])
  expect(faultsIn('npx kith tenant create')).toEqual([expect.stringContaining('tenant create takes')])
  expect(faultsIn('npm run nothing')).toEqual(['npm run nothing'])
  expect(faultsIn('kith tenant create a.example --email x@example.org')).toEqual([])
})

test('there are guides with commands to run', () => {
  expect(blocks.filter(({ how }) => how === 'run').length).toBeGreaterThan(8)
})

test('the fresh machines run all that is theirs', () => {
  // As guides-run.test.ts, guides-tls-run.test.ts and the tests of first posts take them.
  const run = blocks.filter(({ how }) => how === 'run' || how === 'Caddy' || how === 'nginx')
  const pagesRun = Map.groupBy(run, ({ page }) => page)
  expect(Object.fromEntries([...pagesRun].map(([page, of]) => [page, of.length]))).toEqual({
    'docs/guides/first-post.md': 1,
    'docs/guides/first-post-curl.md': 2,
    'docs/operations/administration.md': 3,
    'docs/operations/backup.md': 4,
    'docs/operations/install.md': 5,
    'docs/operations/registration.md': 1,
    'docs/operations/tls.md': 6,
  })
})

test('the trials of releases run all that is theirs', () => {
  // As scripts/release/upgrade-guide.trial.ts and docker.trial.ts take them.
  expect(blocks.filter(({ how }) => how === 'release').map(({ page }) => page)).toEqual([
    'docs/operations/install.md',
    'docs/operations/install.md',
    'docs/operations/upgrade.md',
    'docs/operations/upgrade.md',
  ])
})

describe.each(blocks.map((block): [string, GuideBlock] => [`${block.page}:${block.line}`, block]))(
  '%s',
  (_, block) => {
    test('says how it is tried, is a script, and calls what there is', () => {
      expect(
        block.how,
        'after ```sh there must be run, run: test:release, or example: and a reason',
      ).toBeDefined()
      const { status, stderr } = spawnSync('bash', ['-n'], { input: block.script, encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(faultsIn(block.script)).toEqual([])
    })
  },
)
