import { readdir, readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'

const threads = '/proc/self/task'
const poolThread = 'libuv-worker'
// A pool of four threads with signatures to verify would take four fifths of a single processor from the event loop. So
// nice each weighs a twentieth of the loop (sched(7)): they take what it leaves, which is plenty unless it has work itself.
const nice = 13

/** Lets the threads of the pool (signatures, password hashes, files) give way to the event loop. For the whole process, for
 * ever; answers how many it found. Linux alone names its threads: elsewhere none are found. */
export async function yieldPoolThreads(): Promise<number> {
  const found = await readdir(threads).catch(() => [])
  const names = await Promise.all(
    found.map((thread) => readFile(`${threads}/${thread}/comm`, 'utf8').catch(() => '')),
  )
  const pool = found.filter((_, at) => names[at]?.trim() === poolThread)
  for (const thread of pool) setPriority(Number(thread), nice)
  return pool.length
}
