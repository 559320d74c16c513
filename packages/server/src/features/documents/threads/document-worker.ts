import { parentPort } from 'node:worker_threads'
import { DocumentEngine } from './document-engine.ts'
import { processorMs } from './processor-ms.ts'
import type { EngineAnswer, EngineRequest, ThreadMessage } from './worker-messages.ts'

// The thread of `document-thread.ts`.

const engine = new DocumentEngine()

/** The buffers that can be transferred instead of copied: those that belong to one array alone. */
function buffersOf(answer: EngineAnswer): ArrayBuffer[] {
  const parts = Array.isArray(answer) ? answer : [answer]
  return parts.flatMap((part) =>
    part instanceof Uint8Array && part.byteLength === part.buffer.byteLength
      ? [part.buffer as ArrayBuffer]
      : [],
  )
}

function post(message: ThreadMessage, given: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, given)
}

parentPort?.on('message', (request: EngineRequest) => {
  try {
    const answer = engine.answer(request)
    post({ answer, processorMs: processorMs() }, buffersOf(answer))
  } catch (error) {
    post({ answer: undefined, error: String(error), processorMs: processorMs() })
  }
})
post({ answer: 'ready', processorMs: processorMs() })
