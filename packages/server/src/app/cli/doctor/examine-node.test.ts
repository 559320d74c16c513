import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { examineNode } from './examine-node.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-node-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('the Node that Kith came with is well, and so is one of the machine', async () => {
  expect(await examineNode(process.execPath)).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('which Kith came with'),
  })
  expect(await examineNode(join(folder, 'none'))).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('of this machine'),
  })
})

test('why the one that Kith came with does not run is told', async () => {
  const path = join(folder, 'node')
  const words = 'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file'
  await writeFile(path, `#!/bin/sh\necho '${words}' >&2\nexit 127\n`, { mode: 0o755 })
  expect(await examineNode(path)).toEqual({
    status: 'warning',
    message: `Version ${process.versions.node} of this machine: the one that Kith came with does not run here (${words}).`,
    advice: 'Install libatomic1 (Debian, Ubuntu) or libatomic (Fedora, RHEL, SUSE).',
  })
})
