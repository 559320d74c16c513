/** Ends at once on an abort, even while the source hangs, as it does when a client stopped sending. */
export async function* untilAborted<Item>(
  source: AsyncIterable<Item>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item> {
  const items = source[Symbol.asyncIterator]()
  let ended = false
  try {
    while (true) {
      const next = await (signal ? nextOrAbort(items, signal) : items.next())
      if (next.done) {
        ended = true
        return
      }
      yield next.value
    }
  } finally {
    // Not awaited: a generator that hangs would never let go.
    if (!ended) items.return?.().catch(() => undefined)
  }
}

function nextOrAbort<Item>(items: AsyncIterator<Item>, signal: AbortSignal): Promise<IteratorResult<Item>> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const settle = () => signal.removeEventListener('abort', onAbort)
    items.next().then(resolve, reject).finally(settle)
  })
}
