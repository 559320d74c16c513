import { parentPort } from 'node:worker_threads'
import { DocumentEngine } from './document-engine.ts'
import type { EngineRequest } from './worker-messages.ts'

// The thread of `document-threads.ts`.

const engine = new DocumentEngine()

parentPort?.on('message', ({ id, request }: { readonly id: number; readonly request: EngineRequest }) => {
  const answer = engine.answer(request)
  // Its buffer may be shared with others: only one that is its own can be given away.
  const own = answer instanceof Uint8Array && answer.byteLength === answer.buffer.byteLength
  parentPort?.postMessage({ id, answer }, own ? [answer.buffer as ArrayBuffer] : [])
})
