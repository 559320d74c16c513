import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ok, problem, type Verdict, warning } from './finding.ts'

const leastNode = 24
const root = fileURLToPath(new URL('../../../../../../', import.meta.url))

/** Whether the program runs on a Node that it knows, and if that is not the one it came with, why. */
export async function examineNode(
  // As npm names the package.
  bundled = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`),
): Promise<Verdict> {
  const { node } = process.versions
  const shown = `Version ${node}`
  if (Number.parseInt(node, 10) < leastNode)
    return problem(`${shown} is too old.`, `Install Node.js ${leastNode} or newer.`)
  if (!existsSync(bundled)) return ok(`${shown} of this machine (${process.execPath}).`)
  if (realpathSync(bundled) === realpathSync(process.execPath)) return ok(`${shown}, which Kith came with.`)
  const trouble = await findTrouble(bundled)
  if (trouble === undefined) return ok(`${shown} of this machine (${process.execPath}).`)
  return warning(
    `${shown} of this machine: the one that Kith came with does not run here (${trouble}).`,
    adviceOn(trouble),
  )
}

async function findTrouble(path: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(path, ['--version'], { env: {}, timeout: 10_000 })
    return undefined
  } catch (error) {
    if (hasMusl()) return 'musl in the place of glibc'
    const { stderr = '', message } = error as Error & { readonly stderr?: string }
    return stderr.trim().split('\n')[0] || message
  }
}

function adviceOn(trouble: string): string {
  if (trouble.includes('libatomic'))
    return 'Install libatomic1 (Debian, Ubuntu) or libatomic (Fedora, RHEL, SUSE).'
  if (trouble.includes('musl'))
    return `Nothing, while this one stays at ${leastNode} or newer: there is no Node.js for musl at npm.`
  return 'docs/operations/install.md says what it needs.'
}

function hasMusl(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return process.platform === 'linux' && header?.glibcVersionRuntime === undefined
}
