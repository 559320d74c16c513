import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { formatVersion } from './backup/backup-format.ts'
import { explanationOf } from './failure-report.ts'

/** A title, a colour by C1, a line of its own, a deletion, a turn of direction, and the separators of Unicode. */
const hostile = 'x\u001b]0;owned\u0007\u009b31m\r\nowned\u007f\u202e\u2066\u2028\u2029\ty'
const escaped = String.raw`x\u001b]0;owned\u0007\u009b31m\r\nowned\u007f\u202e\u2066\u2028\u2029\ty`
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

let line: CommandLine
beforeAll(async () => {
  line = await CommandLine.open()
  await line.json('tenant', 'create', 'bob.localhost', '--password', 'correct horse battery')
})
afterAll(() => line[Symbol.asyncDispose]())

/** The lines that a command has printed, on both of its outputs. Fails where a line holds a character that could
 * control the terminal. */
function linesOf({ out, err }: { out: string; err: string }): string[] {
  const lines = (out + err).trimEnd().split('\n')
  for (const it of lines) expect(it).not.toMatch(controls)
  return lines
}

async function archive(name: string, files: Readonly<Record<string, unknown>>): Promise<string> {
  const path = join(line.folder, name)
  const entries = Object.entries(files).map(([file, value]) => {
    const body = JSON.stringify(value)
    return { header: { name: file, size: Buffer.byteLength(body) }, body }
  })
  await writeFile(path, await packTar(entries))
  return path
}

describe('others’ words reach a terminal as text, in the line where they belong', () => {
  test('what an export says of itself', async () => {
    const about = { format: 'kith-export', formatVersion: 2, version: hostile, createdAt: '', withKeys: true }
    const tenant = { idTag: hostile, type: 'person', createdAt: 1, isSuspended: false }
    const named = await archive('a.tar', { 'about.json': { ...about, migrations: [], tenant } })
    expect(linesOf(await line.run(['import', named]))).toEqual([
      `This file cannot be imported: it was written by version ${escaped}, whose database has another form.`,
    ])
  })

  test('names of files and identities in a backup', async () => {
    await using empty = await CommandLine.open()
    const about = {
      format: 'kith-backup',
      formatVersion,
      version: '1',
      createdAt: hostile,
      baseIdTag: 'home.localhost',
      database: 'sqlite',
      withMasterKey: false,
      keyPrint: 'x',
    }
    const strange = await empty.run([
      'restore',
      await archive('c.tar', { 'about.json': about, [hostile]: 1 }),
    ])
    expect(linesOf(strange)).toEqual([`This backup cannot be used: it holds a file ${escaped}.`])
    const other = await archive('d.tar', { 'about.json': { ...about, baseIdTag: hostile } })
    const [only = '', ...more] = linesOf(await empty.run(['restore', other]))
    expect(only).toContain(`it is of ${escaped}, and`)
    expect(more).toEqual([])
  })

  test('what the database says of tenants and jobs', async () => {
    const database = new DatabaseSync(join(line.dataDir, 'kith.db'))
    database.prepare(`update tenants set id_tag = ? where id_tag = 'bob.localhost'`).run(hostile)
    database.close()
    const listed = await line.run(['tenant', 'list'])
    expect(linesOf(listed).filter((it) => it.includes(escaped))).toHaveLength(1)
    const { out } = await line.run(['tenant', 'list', '--json'])
    expect(out.trimEnd()).not.toMatch(controls)
    expect(JSON.parse(out).tenants.map(({ idTag }: { idTag: string }) => idTag)).toContain(hostile)
  })

  test('an error that nobody catches', async () => {
    const thrown = `
      const look = () => {
        if (process.listenerCount('uncaughtException') === 0) return setImmediate(look)
        throw new Error(${JSON.stringify(hostile)})
      }
      look()`
    const program = fileURLToPath(new URL('../../../bin/kith.js', import.meta.url))
    const preload = `data:text/javascript,${encodeURIComponent(thrown)}`
    const ended = spawnSync(process.execPath, ['--import', preload, program, 'help'], { encoding: 'utf8' })
    expect(ended.status).toBe(1)
    const [first, ...stack] = linesOf({ out: '', err: ended.stderr })
    expect(first).toBe(`Error: ${escaped}`)
    for (const it of stack) expect(it).toMatch(/^ {4}at /)
  })

  test('a mistake of the program about them', () => {
    const mistake = new TypeError(hostile)
    const [first, ...stack] = explanationOf(mistake)
    expect(first).toBe(`TypeError: ${hostile}`)
    for (const it of stack) expect(it).toMatch(/^ {4}at /)
  })

  test('arguments that come back', async () => {
    expect(linesOf(await line.run(['tenant', 'list', hostile]))[0]).toContain('is no identity')
    expect(linesOf(await line.run([hostile]))[0]).toBe(`Unknown command: ${escaped}`)
  })
})
