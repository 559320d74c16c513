import type { MonthCount } from '@kith/protocol'
import { useEffect, useRef, useState } from 'preact/hooks'
import { monthAt, monthStep, startsOf } from '#lib/month-places.ts'
import { useTexts } from '#ui/use-texts.ts'
import { photoTexts } from './photo-texts.ts'
import styles from './scrubber.module.css'
import { useMonthName } from './use-month-name.ts'

/** A bar beside the months: a press, a drag and the arrow keys lead to any of them. */
export function Scrubber({ months }: { readonly months: readonly MonthCount[] }) {
  const p = useTexts(photoTexts)
  const nameOf = useMonthName()
  const bar = useRef<HTMLDivElement>(null)
  const [isHeld, setHeld] = useState(false)
  const starts = startsOf(months)
  const { at, go } = usePlace(months)
  const present = months[at]
  const follow = ({ clientY }: PointerEvent) => {
    const box = bar.current?.getBoundingClientRect()
    if (box) go(monthAt(starts, (clientY - box.top) / box.height))
  }
  if (!present) return null
  return (
    <div
      ref={bar}
      role="slider"
      tabIndex={0}
      class={styles.bar}
      data-held={isHeld}
      aria-label={p.month}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={months.length - 1}
      aria-valuenow={at}
      aria-valuetext={p.at(nameOf(present.month), present.count)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setHeld(true)
        follow(event)
      }}
      onPointerMove={(event) => isHeld && follow(event)}
      onPointerUp={() => setHeld(false)}
      onPointerCancel={() => setHeld(false)}
      onKeyDown={(event) => {
        const step = monthStep(event.key, at, months)
        if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        go(step)
      }}
    >
      {yearsOf(months, starts).map(({ year, start }) => (
        <span key={year} class={styles.year} aria-hidden="true" style={{ top: `${start * 100}%` }}>
          {year}
        </span>
      ))}
      <span class={styles.place} style={{ top: `${(starts[at] ?? 0) * 100}%` }} aria-hidden="true">
        <span class={styles.name}>{nameOf(present.month)}</span>
      </span>
    </div>
  )
}

// Nearer together they would cover each other.
const leastApart = 0.06

/** The years, each where its first month begins, as far as there is room for their numbers. */
function yearsOf(months: readonly MonthCount[], starts: readonly number[]) {
  const years: { readonly year: string; readonly start: number }[] = []
  for (const [index, { month }] of months.entries()) {
    const year = month.slice(0, 4)
    const start = starts[index] ?? 0
    const last = years.at(-1)
    if (last?.year !== year && (!last || start - last.start >= leastApart)) years.push({ year, start })
  }
  return years
}

const sectionOf = ({ month }: MonthCount) => document.getElementById(`month-${month}`)

/** The month that is seen, and the way to another. */
function usePlace(months: readonly MonthCount[]) {
  const [at, setAt] = useState(0)
  // What a drag or a key asked for counts until the page is scrolled otherwise: the last months may be too low to reach the top.
  const asked = useRef<number>()
  useEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      if (asked.current !== undefined) return
      setAt(seenOf(months))
    }
    const onScroll = () => {
      frame ||= requestAnimationFrame(look)
    }
    const onOther = () => {
      asked.current = undefined
    }
    window.addEventListener('scroll', onScroll, { passive: true })
    window.addEventListener('wheel', onOther, { passive: true })
    window.addEventListener('touchmove', onOther, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', onScroll)
      window.removeEventListener('wheel', onOther)
      window.removeEventListener('touchmove', onOther)
    }
  }, [months])
  return {
    at: Math.min(at, months.length - 1),
    go: (index: number) => {
      const month = months[index]
      if (!month) return
      asked.current = index
      setAt(index)
      sectionOf(month)?.scrollIntoView({ block: 'start', behavior: 'instant' })
    },
  }
}

// In px: what begins above this line is what is looked at.
const lookedAt = 200

/** By halving: there may be months of decades. */
function seenOf(months: readonly MonthCount[]): number {
  let [low, high] = [0, months.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const month = months[middle]
    const top = month && sectionOf(month)?.getBoundingClientRect().top
    if (top !== undefined && top <= lookedAt) low = middle
    else high = middle - 1
  }
  return low
}
