import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { unprivileged } from '#harness/unprivileged.ts'

test('a data directory that is closed to the user is not taken for none', async () => {
  await using line = await CommandLine.open()
  await chmod(line.folder, 0o755)
  await mkdir(line.dataDir, { mode: 0o000 })
  const closed = `${line.dataDir} is closed to this user: run kith as the user that runs the server.`
  const archive = join(line.folder, 'x.tar')
  const backup = join(line.folder, 'backup.tar')
  await writeFile(backup, '')
  const lines = [['status'], ['tenant', 'list'], ['backup', '--to', archive], ['restore', backup]]
  for (const words of lines)
    expect(await unprivileged(() => line.run(words))).toEqual({ exitCode: 1, out: '', err: `${closed}\n` })

  const { exitCode, out } = await unprivileged(() => line.run(['doctor', '--json']))
  expect(exitCode).toBe(1)
  const { checks } = JSON.parse(out)
  const findings = Object.fromEntries(checks.map((finding: { check: string }) => [finding.check, finding]))
  for (const check of ['Server', 'Database', 'Master key'])
    expect(findings[check]).toMatchObject({ status: 'problem', message: closed })
})
