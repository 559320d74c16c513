import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findCommit } from './find-commit.ts'

const [one = '', other = ''] = ['1', '2'].map((digit) => digit.repeat(40))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-commit-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), `${text}\n`)
  }
}

test.each([
  ['a release', { 'release.json': JSON.stringify({ version: '1', commit: one }) }],
  ['a clone on a branch', { '.git/HEAD': 'ref: refs/heads/main', '.git/refs/heads/main': one }],
  [
    'a clone whose branches are packed',
    {
      '.git/HEAD': 'ref: refs/heads/main',
      '.git/packed-refs': `${other} refs/heads/x\n${one} refs/heads/main`,
    },
  ],
  ['a clone of one commit', { '.git/HEAD': one }],
  [
    'a worktree',
    {
      '.git': 'gitdir: clone/worktrees/w',
      'clone/worktrees/w/HEAD': 'ref: refs/heads/w',
      'clone/worktrees/w/commondir': '../..',
      'clone/refs/heads/w': one,
    },
  ],
])('%s tells its commit', async (_what, files) => {
  await write(files)
  expect(findCommit(folder)).toBe(one)
})

test('a copy of the sources tells none', async () => {
  expect(findCommit(folder)).toBeUndefined()
  await write({ '.git/HEAD': 'ref: refs/heads/unborn' })
  expect(findCommit(folder)).toBeUndefined()
})
