interface View {
  readonly height: number
  readonly offsetTop: number
  readonly scale: number
}

export interface KeyboardRoom {
  /** How high the keyboard is, in px of the page. */
  readonly height: number
  /** How much of the lower edge of the window it covers: less where the view was moved down within the window. */
  readonly covered: number
}

// Less is no keyboard: a scroll bar, or sizes that are rounded.
const leastHeight = 30

/** What an on-screen keyboard takes of a window that the browser leaves as high as it was. A page that is zoomed in shows less
 * of itself as well, and nothing covers it. */
export function keyboardRoom(windowHeight: number, { height, offsetTop, scale }: View): KeyboardRoom {
  const taken = Math.round(windowHeight - height * scale)
  if (taken < leastHeight) return { height: 0, covered: 0 }
  const below = Math.round(windowHeight - offsetTop - height)
  return { height: taken, covered: Math.max(0, Math.min(taken, below)) }
}
