import type { FileView } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Selection } from '#lib/selection.ts'
import { Kept } from '#ui/kept.ts'
import { QueryState } from '#ui/query-state.tsx'
import { useGridRows } from '#ui/use-grid-rows.ts'
import { useNextPage } from '#ui/use-next-page.ts'
import { PhotoCell } from './photo-cell.tsx'
import styles from './photos.module.css'
import { photosOf } from './photos-query.ts'
import type { RowActions } from './use-gestures.ts'

interface PhotoMonthProps {
  readonly month: string
  readonly name: string
  /** How many there are, in words. */
  readonly about: string
  readonly count: number
  /** The picture that had the focus last: Tab leads to it, else to the first of the month. */
  readonly active: string | undefined
  readonly selection: Selection
  readonly actions: RowActions
}

/** A month: as high as its pictures need from the start, and filled when it comes near. */
export function PhotoMonth({ month, name, about, count, ...pictures }: PhotoMonthProps) {
  const { element, isNear } = useNearness()
  return (
    <section ref={element} id={`month-${month}`} class={styles.month} aria-labelledby={`name-${month}`}>
      <h2 id={`name-${month}`}>
        {name} <span class="soft">{about}</span>
      </h2>
      {isNear ? <MonthPictures month={month} count={count} {...pictures} /> : <Room cells={count} />}
    </section>
  )
}

type MonthPicturesProps = Omit<PhotoMonthProps, 'name' | 'about'>

function MonthPictures({ month, count, active, selection, actions }: MonthPicturesProps) {
  const photos = useInfiniteQuery(photosOf(month))
  const files = useMemo(() => photos.data?.pages.flatMap((page) => page.files) ?? [], [photos.data])
  const kept = files.findIndex(({ fileId }) => fileId === active)
  const entry = files[Math.max(0, kept)]
  // Rows stand for pictures that are not loaded yet as well.
  const total = photos.hasNextPage || photos.isPending ? Math.max(count, files.length) : files.length
  const { container, measure, height, rows } = useGridRows({
    count: total,
    estimate: (width) => width,
    gap,
    kept,
  })
  const onEnd = useNextPage(photos)
  const last = rows.at(-1)?.until ?? 0
  useEffect(() => {
    if (last + ahead > files.length) onEnd()
  }, [last, files.length, onEnd])
  if (photos.error) return <QueryState query={photos} heights={[]} />
  const hasSelection = selection.chosen.size > 0
  const cellOf = (file: FileView) => {
    const isEntry = file === entry
    const isChosen = selection.chosen.has(file.fileId)
    return (
      <Kept key={file.fileId} by={[file, isEntry, isChosen, hasSelection, actions]}>
        {() => <PhotoCell {...{ file, isEntry, isChosen, hasSelection, actions }} />}
      </Kept>
    )
  }
  return (
    <div ref={container} class={styles.grid} style={{ height }}>
      {rows.map(({ key, index, top, from, until }) => (
        <div
          key={key}
          ref={measure}
          data-index={index}
          class={`${styles.grid} ${styles.line}`}
          style={{ top }}
        >
          {Array.from({ length: until - from }, (_, at) => {
            const file = files[from + at]
            return file ? cellOf(file) : <div key={from + at} class={styles.awaited} />
          })}
        </div>
      ))}
    </div>
  )
}

// So many pictures before the last that is loaded, the next ones are asked for.
const ahead = 60

/** Keeps the room of pictures that are not there yet: as many square cells in a single element as the grid would have. */
function Room({ cells }: { readonly cells: number }) {
  const element = useRef<HTMLDivElement>(null)
  const [height, setHeight] = useState(0)
  useEffect(() => {
    const place = element.current
    if (!place) return
    const observer = new ResizeObserver(() => {
      const columns = getComputedStyle(place).gridTemplateColumns.split(' ')
      const cell = Number.parseFloat(columns[0] ?? '0') + gap
      setHeight(Math.ceil(cells / columns.length) * cell - gap)
    })
    observer.observe(place)
    return () => observer.disconnect()
  }, [cells])
  if (cells === 0) return null
  return <div ref={element} class={styles.grid} style={{ height }} />
}

// In px, as the style sheet has it.
const gap = 4

function useNearness() {
  const element = useRef<HTMLElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const place = element.current
    if (!place) return
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting ?? false), {
      rootMargin: '1200px',
    })
    observer.observe(place)
    return () => observer.disconnect()
  }, [])
  return { element, isNear }
}
