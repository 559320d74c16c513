import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What `dig` or `kdig` shows of an answer. Records are lines of a zone file with single spaces. */
export interface DigAnswer {
  readonly status: string
  readonly flags: string
  /** Like `version 0, do, 1232 bytes`; empty without EDNS. */
  readonly edns: string
  /** What the program says of the cookie: `good` comes back with the client's; empty without one. */
  readonly cookie: string
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
}

interface DigOptions {
  readonly program: 'dig' | 'kdig'
  readonly server: { readonly host: string; readonly port: number }
}

/** Asks a server with one of the programs; `asked` is its arguments after the server's. */
export async function dig({ program, server }: DigOptions, ...asked: string[]): Promise<DigAnswer> {
  const at = [`@${server.host}`, '-p', String(server.port), '+norecurse', '+ignore', '+retry=0']
  const { stdout } = await run(program, [...at, ...asked])
  return readAnswer(stdout)
}

function readAnswer(text: string): DigAnswer {
  const status = /status: ([A-Z]+)/.exec(text)?.[1]
  if (status === undefined) throw new Error(`no answer is shown:\n${text}`)
  return {
    status,
    flags: /^;; flags: ?([a-z ]*)/im.exec(text)?.[1] ?? '',
    edns: readEdns(text),
    cookie: /^; COOKIE: \w+ \((\w+)\)/m.exec(text)?.[1] ?? '',
    answer: readSection(text, 'ANSWER'),
    authority: readSection(text, 'AUTHORITY'),
    additional: readSection(text, 'ADDITIONAL'),
  }
}

function readEdns(text: string): string {
  const shown = /version: (\d+)[,;] flags: ?([a-z ]*)[^;]*; udp(?: size)?: (\d+)/i.exec(text)
  if (!shown) return ''
  const [, version, flags = '', bytes] = shown
  return [`version ${version}`, ...flags.split(' ').filter(Boolean), `${bytes} bytes`].join(', ')
}

function readSection(text: string, name: string): string[] {
  const [, lines = ''] = new RegExp(`^;; ${name} SECTION:\\n((?:[^;\\n].*\\n)*)`, 'm').exec(text) ?? []
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => line.trim().replace(/\s+/g, ' '))
}
