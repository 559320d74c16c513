/** Texts of scripts that run in the page. They touch what every page has, so that the app and a bare page are measured alike. */

/** From the start of a page: when its first posts are shown with their pictures and a button of theirs answers, how much the
 * layout shifts, how long inputs wait for their paint, and which tasks take long. */
export const watchPage = `{
  let tellUsable
  const usable = new Promise((resolve) => (tellUsable = resolve))
  const bench = (globalThis.kithBench = { usable, shift: 0, inputs: new Map(), longTasks: [] })
  const watch = (type, each, more) =>
    new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true, ...more })
  watch('layout-shift', (entry) => { if (!entry.hadRecentInput) bench.shift += entry.value })
  watch('longtask', (entry) => bench.longTasks.push([entry.startTime, entry.duration]))
  watch('event', ({ interactionId, duration }) => {
    if (interactionId) bench.inputs.set(interactionId, Math.max(duration, bench.inputs.get(interactionId) ?? 0))
  }, { durationThreshold: 16 })
  const isShown = (image) => {
    const { top, bottom, width } = image.getBoundingClientRect()
    return width > 0 && bottom > 0 && top < innerHeight
  }
  const look = () => {
    const images = [...document.querySelectorAll('article img')].filter(isShown)
    const button = document.querySelector('article button[popovertarget]')
    if (button && images.length > 0 && images.every((image) => image.complete && image.naturalWidth > 0)) {
      button.click()
      if (document.querySelector(':popover-open')) {
        const usableMs = performance.now()
        document.querySelector(':popover-open').hidePopover()
        return tellUsable(usableMs)
      }
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}`

export interface Scrolling {
  /** Times between frames, in ms. */
  readonly frames: readonly number[]
  readonly longestTaskMs: number
  readonly nodes: number
  /** How far it went, in px: less than asked for where there was nothing more to show. */
  readonly distance: number
}

/** Scrolls the window, or the element that a selector names, at so many px per second. */
export function scrollText({
  seconds,
  pxPerSecond,
  within,
}: {
  readonly seconds: number
  readonly pxPerSecond: number
  readonly within?: string | undefined
}): string {
  return `new Promise((done) => {
    const scroller = ${within === undefined ? 'document.scrollingElement' : `document.querySelector(${JSON.stringify(within)})`}
    const frames = []
    let nodes = 0
    let distance = 0
    let last
    let first
    const step = (now) => {
      first ??= now
      if (last !== undefined) {
        frames.push(now - last)
        const before = scroller.scrollTop
        scroller.scrollBy({ top: (${pxPerSecond} * (now - last)) / 1000, behavior: 'instant' })
        distance += Math.abs(scroller.scrollTop - before)
      }
      if (frames.length % 30 === 0) nodes = Math.max(nodes, document.getElementsByTagName('*').length)
      last = now
      if (now - first < ${seconds * 1000}) return requestAnimationFrame(step)
      const tasks = globalThis.kithBench.longTasks.filter(([at]) => at >= first)
      done({ frames, nodes, distance, longestTaskMs: Math.max(0, ...tasks.map(([, duration]) => duration)) })
    }
    requestAnimationFrame(step)
  })`
}
