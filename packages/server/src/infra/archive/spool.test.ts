import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '#infra/telemetry/index.ts'
import { systemClock } from '#lib/clock.ts'
import { type ArchiveSink, openSpools } from './index.ts'

let dir: string
const { signal } = new AbortController()

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kith-spool-'))
})
afterEach(() => rm(dir, { recursive: true }))

const open = (options: { maxBytes?: number; keepFreeBytes?: () => Promise<number> } = {}) =>
  openSpools({ dir, clock: systemClock, logger: silentLogger, ...options })

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

test('passes on what was added, in the same order, and has no name meanwhile', async () => {
  const spool = await (await open()).begin(signal)
  await spool.add('first', Buffer.from('one'))
  await spool.add('empty', new Uint8Array())
  await spool.add('second', { size: 6, bytes: pieces('two', 'two') })
  expect(await readdir(dir)).toEqual([])
  const passed: [string, string][] = []
  const sink: ArchiveSink = {
    async add(name, content) {
      if (content instanceof Uint8Array) throw new TypeError('a spool passes on streams')
      passed.push([name, Buffer.concat(await Array.fromAsync(content.bytes)).toString()])
    },
  }
  await spool.copyTo(sink)
  expect(passed).toEqual([
    ['first', 'one'],
    ['empty', ''],
    ['second', 'twotwo'],
  ])
  await spool.close()
  await spool.close()
})

test('takes nothing more than its bound, than the disk may give, and after an abort', async () => {
  const small = await (await open({ maxBytes: 5 })).begin(signal)
  await small.add('fits', Buffer.from('12345'))
  await expect(small.add('more', Buffer.from('6'))).rejects.toMatchObject({ code: 'E-TOOLARGE' })
  await small.close()
  const full = await open({ keepFreeBytes: async () => Number.MAX_SAFE_INTEGER })
  await expect(full.begin(signal)).rejects.toMatchObject({ code: 'E-QUOTA' })
  const late = await (await open()).begin(AbortSignal.abort(new Error('enough')))
  await expect(late.add('any', Buffer.from('1'))).rejects.toThrow('enough')
  await late.close()
})

test('what a killed process has left is removed at the next start, and what begins now is not', async () => {
  await writeFile(join(dir, 'left'), 'rows')
  await utimes(join(dir, 'left'), 0, 0)
  await writeFile(join(dir, 'begins'), '')
  await open()
  expect(await readdir(dir)).toEqual(['begins'])
})

test('a folder that cannot be made keeps nobody from starting, and is made once it can be', async () => {
  const inTheWay = join(dir, 'taken')
  await writeFile(inTheWay, '')
  const spools = await openSpools({ dir: inTheWay, clock: systemClock, logger: silentLogger })
  await expect(spools.begin(signal)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  await rm(inTheWay)
  const spool = await spools.begin(signal)
  await spool.add('any', Buffer.from('1'))
  await spool.close()
})
