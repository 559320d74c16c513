/** Where an arrow key, Home or End leads in a grid of so many items and columns; undefined for other keys. */
export function gridStep(key: string, index: number, count: number, columns: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: index + 1,
    ArrowLeft: index - 1,
    ArrowDown: index + columns,
    ArrowUp: index - columns,
    PageDown: index + 5 * columns,
    PageUp: index - 5 * columns,
    Home: 0,
    End: count - 1,
  }
  const wanted = steps[key]
  return wanted === undefined ? undefined : Math.max(0, Math.min(count - 1, wanted))
}

/** How many items stand in the first row. */
export function columnsOf(items: readonly { readonly offsetTop: number }[]): number {
  const [first] = items
  const columns = items.findIndex(({ offsetTop }) => offsetTop !== first?.offsetTop)
  return columns > 0 ? columns : Math.max(1, items.length)
}
