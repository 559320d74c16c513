import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

// Of nobody, on every Linux.
const uid = '65534'
const asNobody = ['--reuid', uid, '--regid', uid, '--clear-groups', '--']

/** Whether commands can be run as another user here. */
export function canBeNobody(): boolean {
  return process.getuid?.() === 0 && spawnSync('setpriv', [...asNobody, 'true']).status === 0
}

/** Runs a command as a user without any rights; answers what it printed. */
export async function runAsNobody(
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('setpriv', [...asNobody, ...command], {
    env: { ...process.env, ...env },
  })
  return stdout
}
