// Browsers cut what is taller than 17.8 (Firefox) or 33.5 million px, and place things in single precision: here to half a px.
const tallest = 2 ** 23

/** How a list that may be taller than a browser allows lies in the window. All in px. */
export interface LongList {
  /** The height of the list in the page. */
  readonly height: number
  /** Whether that is less than its items need. */
  readonly isCut: boolean
  /** The place in the list that is at the top of the window, when the page is scrolled this far into the list. */
  placeAt(scrolled: number): number
  /** The reverse: how far to scroll to have a place at the top. */
  scrollTo(place: number): number
}

/** Lays out a list of a total height in a window. Where it is too tall, its places are passed faster than the page is scrolled, so that
 * the end of the page is the end of the list. */
export function layOut(total: number, windowHeight: number, limit = tallest): LongList {
  const height = Math.min(total, limit)
  const isCut = height < total && height > windowHeight
  const factor = isCut ? (total - windowHeight) / (height - windowHeight) : 1
  return {
    height,
    isCut,
    // Above the list and below its end the page is scrolled as it is.
    placeAt(scrolled) {
      const within = Math.max(0, Math.min(scrolled, height - windowHeight))
      return within * factor + (scrolled - within)
    },
    scrollTo(place) {
      const within = Math.max(0, Math.min(place, total - windowHeight))
      return within / factor + (place - within)
    },
  }
}
