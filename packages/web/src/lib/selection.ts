/** Which items are chosen, and the one from which a range is drawn. */
export interface Selection {
  readonly chosen: ReadonlySet<string>
  readonly anchor: string | undefined
}

export const noSelection: Selection = { chosen: new Set(), anchor: undefined }

export function toggled({ chosen }: Selection, id: string): Selection {
  const next = new Set(chosen)
  if (!next.delete(id)) next.add(id)
  return { chosen: next, anchor: id }
}

/** From the anchor to an item, both included, in addition to what is chosen. */
export function extended({ chosen, anchor }: Selection, id: string, order: readonly string[]): Selection {
  const to = order.indexOf(id)
  const from = anchor === undefined ? to : order.indexOf(anchor)
  const [first, last] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)]
  return { chosen: new Set([...chosen, ...order.slice(first, last + 1)]), anchor: anchor ?? id }
}
