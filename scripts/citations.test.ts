import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const folders = ['packages', 'examples', 'bench', 'scripts', 'deploy', 'docs', 'vectors', '.ci']
const paths = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name))),
  ),
]
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

function headingsOf(path: string): string[] {
  return [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''))
}

/** The anchor that renderers of Markdown give a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

test('every page that code cites is here, with the heading that is named', () => {
  const wrong: string[] = []
  for (const path of paths.filter((path) => /\.(ts|js|sh|ya?ml)$/.test(path)))
    for (const [cited, page = '', named] of textOf(path).matchAll(
      /\b(docs\/[\w/-]+\.md)(?:`?, ([A-Z][\w' ]*\w))?/g,
    )) {
      const isThere = existsSync(join(root, page))
      const hasHeading = named === undefined || (isThere && headingsOf(page).includes(named))
      if (!isThere || !hasHeading) wrong.push(`${path}: ${cited}`)
    }
  expect(wrong).toEqual([])
})

test('every link between pages leads somewhere', () => {
  const wrong: string[] = []
  for (const path of paths.filter((path) => path.endsWith('.md')))
    for (const [, target = ''] of textOf(path).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [page = '', anchor] = target.split('#')
      const absolute = page === '' ? join(root, path) : resolve(root, dirname(path), page)
      const isThere = existsSync(absolute)
      const hasAnchor =
        anchor === undefined ||
        (isThere && headingsOf(relative(root, absolute)).map(anchorOf).includes(anchor))
      if (!isThere || !hasAnchor) wrong.push(`${path}: ${target}`)
    }
  expect(wrong).toEqual([])
})
