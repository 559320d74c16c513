import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** The root of the repository. */
export const repository = resolve(import.meta.dirname, '../../../..')

/** A block of commands in a guide, and how a test tries it. */
export interface GuideBlock {
  readonly page: string
  readonly line: number
  /** `run`: as written; `release`: as written, by `npm run test:release`; `example`: only looked at, for a reason; otherwise as
   * written, where that program is installed. Undefined where the guide does not say. */
  readonly how: 'run' | 'release' | 'example' | Program | undefined
  readonly script: string
}

const programs = ['Caddy', 'nginx'] as const
type Program = (typeof programs)[number]

/** The blocks of shell commands of a page. After `sh` stands `run`, `run: ` and what that needs, or `example: ` and why it cannot be
 * run. */
export function readGuide(page: string): GuideBlock[] {
  const text = readFileSync(resolve(repository, page), 'utf8')
  return [...text.matchAll(/^```(?:sh|bash|shell|console)\b(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, mark = '', script = ''] = match
    return { page, line: text.slice(0, match.index).split('\n').length, how: howOf(mark), script }
  })
}

function howOf(mark: string): GuideBlock['how'] {
  if (mark === ' run') return 'run'
  if (mark === ' run: test:release') return 'release'
  const program = programs.find((name) => mark === ` run: ${name}`)
  return program ?? (/^ example: \S/.test(mark) ? 'example' : undefined)
}

/** The programs that a script calls, each with its words; comments, quotes, assignments and `sudo` are taken away. */
export function callsIn(script: string): string[][] {
  return script
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => tokensOf(line))
    .map((words) => words.slice(words.findIndex((word) => !isPrefix(word))))
    .filter((words) => words.length > 0 && !isPrefix(words[0] ?? ''))
}

const isPrefix = (word: string) => /^(?:sudo|--user=kith|--|env|npx|export|[A-Z][A-Z0-9_]*=.*)$/.test(word)

/** The commands of a line, which `&&`, `;` and `|` part. */
function tokensOf(line: string): string[][] {
  const commands: string[][] = [[]]
  for (const [token] of line.matchAll(/#.*|&&|\|\||[;|&]|(?:'[^']*'|"[^"]*"|[^\s;&|#'"]|(?<=\S)#)+/g)) {
    if (token.startsWith('#')) break
    if (/^(?:&&|\|\||[;|&])$/.test(token)) commands.push([])
    else commands.at(-1)?.push(token.replaceAll(/['"]/g, ''))
  }
  return commands.filter((words) => words.length > 0)
}
