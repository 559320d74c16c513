import * as Y from 'yjs'
import { processorMs } from './processor-ms.ts'
import type { CompactState } from './worker-messages.ts'

/** The state, and whether another document that is made of it is the same: the log that it
 * replaces is deleted. */
export function compactState(doc: Y.Doc): CompactState {
  const state = Y.encodeStateAsUpdate(doc)
  const beganAtMs = processorMs()
  const opened = new Y.Doc()
  try {
    Y.applyUpdate(opened, state)
    const isSound =
      Y.equalSnapshots(Y.snapshot(doc), Y.snapshot(opened)) &&
      !doc.store.pendingStructs === !opened.store.pendingStructs &&
      !doc.store.pendingDs === !opened.store.pendingDs
    return { state, isSound, openMs: processorMs() - beganAtMs }
  } catch {
    return { state, isSound: false, openMs: processorMs() - beganAtMs }
  } finally {
    opened.destroy()
  }
}
