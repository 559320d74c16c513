export interface Size {
  readonly width: number
  readonly height: number
}

/** A part of a picture with the shape of the frame, in pixels of the picture. */
export interface Part extends Size {
  readonly x: number
  readonly y: number
}

/** The part is at most this many times smaller than the largest that fits. */
export const mostZoom = 4

/** The largest part of this shape (width by height), from the middle. */
export function wholePart(picture: Size, shape: number): Part {
  const width = Math.min(picture.width, picture.height * shape)
  const height = width / shape
  return { x: (picture.width - width) / 2, y: (picture.height - height) / 2, width, height }
}

/** How many times smaller the part is than the largest of its shape. */
export function zoomOf(picture: Size, part: Part): number {
  return wholePart(picture, part.width / part.height).width / part.width
}

/** The part at another zoom, about its middle. */
export function zoomed(picture: Size, part: Part, zoom: number): Part {
  const whole = wholePart(picture, part.width / part.height)
  const factor = Math.min(Math.max(zoom, 1), mostZoom)
  const width = whole.width / factor
  const height = whole.height / factor
  const middle = { x: part.x + part.width / 2, y: part.y + part.height / 2 }
  return within(picture, { x: middle.x - width / 2, y: middle.y - height / 2, width, height })
}

/** The part moved by shares of its own size, as far as the picture goes. */
export function moved(picture: Size, part: Part, by: { readonly x: number; readonly y: number }): Part {
  return within(picture, { ...part, x: part.x + by.x * part.width, y: part.y + by.y * part.height })
}

function within(picture: Size, part: Part): Part {
  const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), Math.max(most, 0))
  return {
    ...part,
    x: clamp(part.x, picture.width - part.width),
    y: clamp(part.y, picture.height - part.height),
  }
}
