import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { useWindowList } from './use-window-list.ts'

interface GridRowsOptions {
  readonly count: number
  /** How tall a row is that was not seen yet, from the width of its columns. In px. */
  readonly estimate: (columnWidth: number) => number
  /** Between rows, as the style sheet has it. */
  readonly gap?: number
  /** An item whose row stays rendered. */
  readonly kept?: number | undefined
}

interface Columns {
  readonly count: number
  readonly width: number
  /** How many others there were before. */
  readonly era: number
}

// More than there are files; small numbers are cheaper than texts, of which a month may need tens of thousands.
const mostRows = 2 ** 20

/** The rows of a grid whose style sheet says how many columns it has, from the width of `container`. The rows near the visible
 * part are to be rendered, each as a grid of its own. */
export function useGridRows({ count, estimate, gap = 0, kept }: GridRowsOptions) {
  const [columns, setColumns] = useState<Columns>()
  const { count: inRow = 1, width = 0, era = 0 } = columns ?? {}
  // Nothing is rendered before it is known how much fits into a row.
  const rowCount = columns ? Math.ceil(count / inRow) : 0
  // Rows of another width have other heights.
  const keys = useMemo(() => rowKeys(rowCount, era), [rowCount, era])
  const { list, container, height, topOf } = useWindowList({
    keys,
    estimate: Math.round(estimate(width)),
    gap,
    isExact: true,
    kept: kept === undefined || kept < 0 ? undefined : Math.floor(kept / inRow),
  })
  useColumns(container, setColumns)
  return {
    container,
    columns: inRow,
    height,
    measure: list.measureElement,
    rows: list.getVirtualItems().map((place) => ({
      key: place.key,
      index: place.index,
      top: topOf(place),
      /** Of its first item. */
      from: place.index * inRow,
      /** After its last item. */
      until: Math.min(count, (place.index + 1) * inRow),
    })),
  }
}

function rowKeys(count: number, era: number): readonly number[] {
  const keys: number[] = []
  for (let row = 0; row < count; row += 1) keys.push(era * mostRows + row)
  return keys
}

function useColumns(
  container: RefObject<HTMLElement>,
  set: (change: (before: Columns | undefined) => Columns) => void,
): void {
  useLayoutEffect(() => {
    const grid = container.current
    if (!grid) return
    const look = () => {
      const widths = getComputedStyle(grid).gridTemplateColumns.split(' ')
      const [count, width] = [widths.length, Number.parseFloat(widths[0] ?? '') || 0]
      set((before) => {
        if (before?.count === count && before.width === width) return before
        return { count, width, era: before ? before.era + 1 : 0 }
      })
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(grid)
    return () => observer.disconnect()
  }, [])
}
