import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { Failure } from '#lib/failure.ts'
import type { Secret } from '#lib/secret.ts'

const common = ['--no-owner', '--no-privileges']

/** Writes a consistent dump of a PostgreSQL database, in the format of `pg_restore`. */
export async function dumpPostgres(url: Secret, toPath: string): Promise<void> {
  const { target, env } = connectionOf(url)
  await run('pg_dump', ['--format=custom', ...common, `--file=${toPath}`, `--dbname=${target}`], env)
}

/** Puts a dump in the place of what is there, all or nothing. */
export async function restorePostgres(url: Secret, fromPath: string): Promise<void> {
  const { target, env } = connectionOf(url)
  const how = ['--clean', '--if-exists', '--single-transaction', '--exit-on-error', ...common]
  await run('pg_restore', [...how, `--dbname=${target}`, fromPath], env)
}

/** Fails when there are no such tools. */
export async function checkTools(): Promise<void> {
  for (const tool of ['pg_dump', 'pg_restore']) await run(tool, ['--version'], {})
}

/** Fails when a file is no dump. */
export async function checkDump(path: string): Promise<void> {
  await run('pg_restore', ['--list', path], {})
}

/** Other users of the machine see the arguments of a process, so the password goes by its environment. */
function connectionOf(secret: Secret): { target: string; env: Record<string, string> } {
  const url = new URL(secret.reveal())
  const password = decodeURIComponent(url.password)
  url.password = ''
  return { target: url.href, env: password === '' ? {} : { PGPASSWORD: password } }
}

async function run(tool: string, words: readonly string[], env: Record<string, string>): Promise<void> {
  const { PATH, HOME, LANG, PGPASSFILE, PGSSLROOTCERT } = process.env
  const inherited = Object.entries({ PATH, HOME, LANG, PGPASSFILE, PGSSLROOTCERT }).filter(
    ([, value]) => value !== undefined,
  )
  const child = spawn(tool, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...Object.fromEntries(inherited), ...env },
  })
  const complaint = text(child.stderr)
  const [code] = await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    const message = `${tool} is not installed: it belongs to the client programs of PostgreSQL.`
    throw new Failure('E-UNAVAILABLE', { message })
  })
  if (code !== 0)
    throw new Failure('E-UNAVAILABLE', {
      message: `${tool} failed.`,
      details: { [tool]: (await complaint).trim().slice(0, 2000).split('\n') },
    })
}
