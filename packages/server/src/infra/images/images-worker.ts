/**
 * The program of the worker process: one job at a time from the server, one answer to each. It has no environment, no
 * network, and its JavaScript may write below the folder for temporary files alone.
 */
import { makeVariants } from './make-variants.ts'
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts'

// Often enough that a decoder cannot take hundreds of megabytes between two looks.
const memoryCheckMs = 25

function answer(message: WorkerAnswer | { kind: 'ready' }): void {
  process.send?.(message)
}

async function run(request: WorkerRequest): Promise<void> {
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() < request.maxMemoryBytes) return
    clearInterval(watch)
    // The server kills the process for it: a running decoder cannot be stopped from inside.
    answer({ kind: 'unprocessable', problem: 'too-much-memory' })
  }, memoryCheckMs)
  try {
    answer(await makeVariants(request))
  } catch (error) {
    answer({ kind: 'failed', detail: String(error).slice(0, 1000) })
  } finally {
    clearInterval(watch)
  }
}

process.on('message', (request: WorkerRequest) => void run(request))
// An orderly exit would wait for the decoders; without a server nobody waits for them.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// A terminal's Ctrl-C reaches the whole group; the server decides when its workers end.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
answer({ kind: 'ready' })
