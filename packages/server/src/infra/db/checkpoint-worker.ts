import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

// The thread of `checkpoints.ts`. It imports nothing of the program, so that it starts quickly.

const { path } = workerData as { readonly path: string }
const database = new DatabaseSync(path, { timeout: 0 })
const passive = database.prepare('pragma wal_checkpoint(passive)')

parentPort?.on('message', (message: 'copy' | 'close') => {
  if (message === 'close') {
    database.close()
    parentPort?.close()
    return
  }
  const { log, checkpointed } = passive.get() as { readonly log: number; readonly checkpointed: number }
  parentPort?.postMessage(log - checkpointed)
})
