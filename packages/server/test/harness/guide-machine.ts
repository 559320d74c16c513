import { execFile, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type GuideBlock, repository } from './guide.ts'

/** A block of a guide, run by an ordinary user with sudo; or, as a text, what happens between blocks, done by root. */
export type GuideStep = GuideBlock | string

// Of some containers the file system takes none.
const overlay =
  'mount -t tmpfs none /mnt && cd /mnt && mkdir a b c d && mount -t overlay o -o lowerdir=a,upperdir=b,workdir=c d'

/** What `canHaveMachine` asks for. */
export const machineNeeds = 'needs root, sudo, iproute2 and the right to make namespaces'

/** Whether `runOnMachine` works here. */
export function canHaveMachine(): boolean {
  return (
    process.getuid?.() === 0 &&
    ['unshare', 'sudo', 'ip', 'setpriv', 'useradd'].every(
      (each) => spawnSync('which', [each]).status === 0,
    ) &&
    spawnSync('unshare', ['--mount', '--net', 'sh', '-c', overlay]).status === 0
  )
}

/** Does the steps on what looks like a fresh machine; answers what they printed. `home` is a folder with what the user has there. */
export async function runOnMachine(steps: readonly GuideStep[], home?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-guides-'))
  await chmod(folder, 0o755)
  try {
    for (const [at, step] of steps.entries()) {
      const number = String(at).padStart(2, '0')
      const name =
        typeof step === 'string' ? 'between.root' : `${step.page.replaceAll('/', '.')}-${step.line}`
      const text = typeof step === 'string' ? step : step.script
      await writeFile(join(folder, `${number}-${name}.sh`), text, { mode: 0o644 })
    }
    const machine = join(import.meta.dirname, 'guide-machine.sh')
    const words = ['--mount', '--net', machine, repository, folder, ...(home === undefined ? [] : [home])]
    const { stdout } = await promisify(execFile)('unshare', words).catch((error: { stdout?: string }) => ({
      stdout: error.stdout ?? String(error),
    }))
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What a reader does between the blocks: the settings of the guide without its mail server, which is not there. */
export async function writeSettings(): Promise<string> {
  const lines = await settingsBelow('docs/operations/install.md', '## Settings')
  return settingsStep(lines.filter((line) => !/^(?:SMTP_URL|MAIL_FROM)=/.test(line)))
}

/** The lines of the first block without a language below a heading of a page. */
export async function settingsBelow(page: string, heading: string): Promise<string[]> {
  const text = await readFile(join(repository, page), 'utf8')
  const below = text.slice(text.indexOf(`${heading}\n`))
  const [, lines = ''] = /^```\n([\s\S]*?)^```/m.exec(below.replaceAll(/^```\w[\s\S]*?^```$/gm, '')) ?? []
  return lines.split('\n').filter((line) => line !== '')
}

/** A step that writes the settings of the server, as the guide has them owned. */
export function settingsStep(lines: readonly string[]): string {
  return `cat >/etc/kith/.env <<'END'\n${lines.join('\n')}\nEND\nchown root:kith /etc/kith/.env\nchmod 640 /etc/kith/.env\n`
}
