import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { getPriority } from 'node:os'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const source = new URL('yield-pool-threads.ts', import.meta.url)
const program = `
  import { getPriority } from 'node:os'
  import { readdirSync, readFileSync } from 'node:fs'
  const { yieldPoolThreads } = await import(${JSON.stringify(source.href)})
  const found = await yieldPoolThreads()
  const threads = readdirSync('/proc/self/task').map((thread) => [
    readFileSync('/proc/self/task/' + thread + '/comm', 'utf8').trim(), getPriority(Number(thread)),
  ])
  console.log(JSON.stringify({ found, loop: getPriority(process.pid), pool: threads
    .filter(([name]) => name === 'libuv-worker').map(([, priority]) => priority) }))`

// In a process of its own: it is for ever, and the other tests want their threads.
test.runIf(existsSync('/proc/self/task'))('gives the event loop the right of way', async () => {
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(JSON.parse(stdout)).toEqual({ found: 4, loop: getPriority(), pool: [13, 13, 13, 13] })
})
