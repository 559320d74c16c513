import type { EventLoopTurns } from '#lib/event-loop-turns.ts'

const runLength = 500

/** Sorts as `toSorted` does, but lets others run meanwhile. */
export async function sortInTurns<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
  turns: EventLoopTurns,
): Promise<Item[]> {
  let runs: Item[][] = []
  for (let from = 0; from < items.length; from += runLength) {
    runs.push(items.slice(from, from + runLength).sort(compare))
    await turns.giveWay()
  }
  while (runs.length > 1) {
    const merged: Item[][] = []
    for (let index = 0; index < runs.length; index += 2)
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], { compare, turns }))
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<Item>(
  a: readonly Item[],
  b: readonly Item[],
  { compare, turns }: { readonly compare: (a: Item, b: Item) => number; readonly turns: EventLoopTurns },
): Promise<Item[]> {
  const merged: Item[] = []
  let [nextA, nextB] = [0, 0]
  while (nextA < a.length || nextB < b.length) {
    const isFromA =
      nextB >= b.length || (nextA < a.length && compare(a[nextA] as Item, b[nextB] as Item) <= 0)
    merged.push((isFromA ? a[nextA++] : b[nextB++]) as Item)
    if (merged.length % runLength === 0) await turns.giveWay()
  }
  return merged
}
