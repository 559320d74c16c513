import * as Y from 'yjs'

// The same as of values: the library deletes nested types by recursion.
const maxDepth = 100

/** Throws when a transaction has brought types that are nested deeper than documents need. */
export function assertFlat({ doc, beforeState, afterState }: Y.Transaction): void {
  for (const [client, clock] of afterState) {
    const from = beforeState.get(client) ?? 0
    const structs = doc.store.clients.get(client) ?? []
    for (
      let at = from < clock ? Y.findIndexSS(structs, from) : structs.length;
      at < structs.length;
      at += 1
    ) {
      const struct = structs[at]
      if (struct instanceof Y.Item && struct.content instanceof Y.ContentType && isTooDeep(struct))
        throw new Error('types are nested too deeply')
    }
  }
}

function isTooDeep(item: Y.Item): boolean {
  let depth = 0
  for (let at: Y.Item | null = item; at; at = at.parent instanceof Y.AbstractType ? at.parent._item : null) {
    depth += 1
    if (depth > maxDepth) return true
  }
  return false
}
