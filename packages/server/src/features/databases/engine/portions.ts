import type { DocumentSize } from './document-list-store.ts'

// Read without giving way: some milliseconds.
export const portionDocuments = 300
const portionBytes = 256 * 1024

interface Portion {
  readonly ids: string[]
  readonly last: string
}

/** Parts of a list of documents that are read at once: a document that is large by itself alone. */
export function portionsOf(sizes: readonly DocumentSize[]): Portion[] {
  const portions: { ids: string[]; last: string; bytes: number }[] = []
  for (const { id, size } of sizes) {
    const current = portions.at(-1)
    if (current && current.bytes + size <= portionBytes) {
      current.ids.push(id)
      current.last = id
      current.bytes += size
    } else portions.push({ ids: [id], last: id, bytes: size })
  }
  return portions
}
