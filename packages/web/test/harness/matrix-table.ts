import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Tried {
  readonly checks: number
  readonly findings: readonly string[]
}

/** What was found on a screen, by state. */
export interface ScreenFindings {
  readonly path: string
  readonly states: Readonly<Record<string, Tried>>
}

/** Keeps what was found on one screen in the folder of a run, and writes the table of all that are there. */
export async function keepFindings(folder: string, found: ScreenFindings): Promise<void> {
  const name = found.path === '/' ? 'home' : found.path.replaceAll(/\W+/g, '-').replace(/^-/, '')
  await writeFile(join(folder, `${name}.json`), JSON.stringify(found, undefined, 2))
}

/** The table of everything in the folder: a line for each screen, a column for each state, and what was found below. */
export async function matrixTable(folder: string, paths: readonly string[]): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const all = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as ScreenFindings),
  )
  const rows = paths.flatMap((path) => all.filter((found) => found.path === path))
  const states = [...new Set(rows.flatMap((row) => Object.keys(row.states)))]
  const tried = rows.flatMap((row) => Object.values(row.states))
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const cell = (one: Tried | undefined) => (one ? `${one.findings.length} of ${one.checks}` : '')
  const lines = rows.map(
    ({ path, states: of }) => `| \`${path}\` | ${states.map((name) => cell(of[name])).join(' | ')} |`,
  )
  const total = `${sum(tried.map(({ findings }) => findings.length))} findings in ${sum(tried.map(({ checks }) => checks))} checks on ${rows.length} of ${paths.length} screens.`
  const details = rows.flatMap(({ path, states: of }) =>
    Object.entries(of).flatMap(([name, { findings }]) =>
      findings.map((text) => `- \`${path}\` ${name}: ${text}`),
    ),
  )
  const head = [`| Screen | ${states.join(' | ')} |`, `|---|${states.map(() => '---|').join('')}`]
  return [...head, ...lines, '', total, ...(details.length > 0 ? ['', ...details] : []), ''].join('\n')
}
