import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** The commit that the program was made of: as a release tells it, or as its clone has it. Undefined where neither is there. */
export function findCommit(folder = root): string | undefined {
  const release = readText(join(folder, 'release.json'))
  if (release !== undefined) return (JSON.parse(release) as { commit?: string }).commit
  const git = findGitFolder(folder)
  const head = readText(join(git, 'HEAD'))
  const ref = head?.startsWith('ref: ') ? head.slice('ref: '.length) : undefined
  const commit = ref === undefined ? head : findRef(git, ref)
  return commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

/** A worktree has a file in its place that names it. */
function findGitFolder(folder: string): string {
  const [, elsewhere] = /^gitdir: (.+)$/.exec(readText(join(folder, '.git')) ?? '') ?? []
  return elsewhere === undefined ? join(folder, '.git') : resolve(folder, elsewhere)
}

function findRef(git: string, ref: string): string | undefined {
  const common = resolve(git, readText(join(git, 'commondir')) ?? '.')
  const packed = readText(join(common, 'packed-refs'))?.split('\n')
  return readText(join(common, ref)) ?? packed?.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0]
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
