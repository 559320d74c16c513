import {
  defaultRangeExtractor,
  measureElement,
  observeWindowOffset,
  observeWindowRect,
  type Range,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { layOut } from '#lib/long-list.ts'
import { whenIdle } from '#platform/when-idle.ts'

/** Where a list was left, and how tall its items are. */
export interface ListPlace {
  readonly offset: number
  readonly measurements: VirtualItem[]
}

interface WindowListOptions {
  /** The same list for as long as the items are: for another one, the places of all are worked out anew. */
  readonly keys: readonly (string | number)[]
  /** In px, of an item that was not seen yet. */
  readonly estimate: number
  readonly gap?: number
  /** The estimate is what the style sheet gives: items are measured after the browser has laid them out, without asking it to. */
  readonly isExact?: boolean
  /** An item that stays rendered wherever the window is: the one that Tab leads to. The one with the focus stays anyway. */
  readonly kept?: number | undefined
  /** Where to go on. */
  readonly place?: ListPlace | undefined
  /** Told when the list is left. */
  readonly onLeave?: (place: ListPlace) => void
}

/** A list that scrolls with the window and renders what is near the visible part alone, whatever its length. */
export function useWindowList<Place extends HTMLElement = HTMLDivElement>(given: WindowListOptions) {
  const { keys, estimate, gap = 0, isExact = false, kept, place, onLeave } = given
  const [, render] = useReducer((count: number) => count + 1, 0)
  const container = useRef<Place>(null)
  const [margin, setMargin] = useState(0)
  const [frame] = useState<Frame>(() => ({ margin, total: 0, windowHeight: window.innerHeight }))
  const [fixed] = useState(() => inWindow(frame, isExact))
  const options = {
    ...fixed,
    rangeExtractor: useRange(container, kept),
    count: keys.length,
    getItemKey: useMemo(() => (index: number) => keys[index] ?? index, [keys]),
    estimateSize: () => estimate,
    onChange: () => render(undefined),
    initialOffset: place?.offset ?? 0,
    initialMeasurementsCache: place?.measurements ?? [],
    scrollMargin: margin,
    gap,
    overscan: useOverscan(),
  }
  const [list] = useState(() => new Virtualizer<Window, HTMLElement>(options))
  list.setOptions(options)
  useLayoutEffect(() => list._didMount(), [list])
  useLayoutEffect(() => {
    list._willUpdate()
    // What is above a list seldom changes while it is scrolled, and to ask costs a layout of the page.
    if (list.isScrolling) return
    const top = container.current ? container.current.getBoundingClientRect().top + window.scrollY : 0
    if (Math.abs(top - margin) > 1) setMargin(top)
  })
  useKeptPlace(list, place, onLeave)
  fitFrame(frame, list, margin)
  const { height, isCut, placeAt, scrollTo } = layOut(frame.total, frame.windowHeight)
  const scrolled = scrollTo((list.scrollOffset ?? 0) - margin)
  // What a list that is too tall shows stands where the page is scrolled to.
  const shift = isCut ? placeAt(scrolled) - scrolled : 0
  return {
    list,
    container,
    /** Of the list in the page. */
    height,
    /** How far below the top of the list an item stands in the page. */
    topOf: ({ start }: VirtualItem) => start - margin - shift,
  }
}

// Beyond what is seen, on either side: little as long as nothing is shown yet.
const overscans = { first: 1, later: 4 } as const

/** How many items beyond those that are seen are rendered: more as soon as the browser has time. */
function useOverscan(): number {
  const [overscan, setOverscan] = useState<number>(overscans.first)
  // One by one: all of them together would keep an input waiting, or the pictures of what is seen.
  useEffect(() => {
    if (overscan < overscans.later) return whenIdle(() => setOverscan(overscan + 1))
  }, [overscan])
  return overscan
}

/** How a list lies in the window. */
interface Frame {
  readonly margin: number
  readonly total: number
  readonly windowHeight: number
}

function fitFrame(frame: Frame, list: Virtualizer<Window, HTMLElement>, margin: number): void {
  const windowHeight = list.scrollRect?.height ?? window.innerHeight
  Object.assign(frame, { margin, total: list.getTotalSize(), windowHeight })
}

/** What a virtualizer is told of the window; `frame` is changed while it runs. */
function inWindow(frame: Frame, isExact: boolean) {
  const laidOut = () => layOut(frame.total, frame.windowHeight)
  const observeOffset: typeof observeWindowOffset = (list, tell) =>
    observeWindowOffset(list, (offset, isScrolling) =>
      tell(frame.margin + laidOut().placeAt(offset - frame.margin), isScrolling),
    )
  const scroll: typeof windowScroll = (offset, options, list) =>
    windowScroll(frame.margin + laidOut().scrollTo(offset - frame.margin), options, list)
  return {
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeOffset,
    scrollToFn: scroll,
    measureElement: isExact ? measureLater : measureElement,
    useScrollendEvent: true,
  }
}

const measureLater: typeof measureElement = (element, entry, list) => {
  if (entry) return measureElement(element, entry, list)
  const index = list.indexFromElement(element)
  return list.itemSizeCache.get(list.options.getItemKey(index)) ?? list.options.estimateSize(index)
}

/** Which items are rendered. The list asks again where this is another function. */
function useRange(container: RefObject<HTMLElement>, kept: number | undefined) {
  return useMemo(() => (range: Range) => withKept(range, [kept, focusedIn(container.current)]), [kept])
}

function withKept(range: Range, kept: readonly (number | undefined)[]): number[] {
  const shown = new Set(defaultRangeExtractor(range))
  for (const index of kept) if (index !== undefined && index >= 0 && index < range.count) shown.add(index)
  return [...shown].sort((one, other) => one - other)
}

/** The item that has the focus, itself or what is in it: without it the keys would be lost. */
function focusedIn(container: HTMLElement | null): number | undefined {
  const focused = document.activeElement
  if (!container || !focused || !container.contains(focused)) return undefined
  const index = focused.closest<HTMLElement>('[data-index]')?.dataset.index
  return index === undefined ? undefined : Number(index)
}

function useKeptPlace(
  list: Virtualizer<Window, HTMLElement>,
  place: ListPlace | undefined,
  onLeave: ((place: ListPlace) => void) | undefined,
) {
  const left = useRef(onLeave)
  left.current = onLeave
  useEffect(() => {
    if (place) window.scrollTo(0, place.offset)
    return () => left.current?.({ offset: list.scrollOffset ?? 0, measurements: [...list.measurementsCache] })
  }, [list])
}
