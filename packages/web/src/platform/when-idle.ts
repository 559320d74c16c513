/** Calls when the browser has nothing better to do, or after `mostMs`; returns what keeps it from that. */
export function whenIdle(work: () => void, mostMs = 1000): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(work, mostMs / 3)
    return () => clearTimeout(timer)
  }
  const id = requestIdleCallback(work, { timeout: mostMs })
  return () => cancelIdleCallback(id)
}
