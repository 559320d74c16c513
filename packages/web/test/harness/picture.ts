import sharp from 'sharp'

// Of the points that are worked out here; the library finds the colours between them.
const gridSize = 90

/**
 * A JPEG of its own colours, without noise. It is made of points and not of SVG, which the server's processing of pictures
 * forbids `sharp` to read in the process that both share.
 */
export async function picture(hue: number, width = 900, height = 600): Promise<Blob> {
  const [columns, rows] = [Math.min(width, gridSize), Math.min(height, gridSize)]
  const points = Buffer.alloc(columns * rows * 3)
  for (let y = 0, at = 0; y < rows; y++)
    for (let x = 0; x < columns; x++)
      for (const channel of [0, 120, 240])
        points[at++] = channelOf(hue + channel + 60 * (x / columns + y / rows), 0.3 + (0.3 * y) / rows)
  const jpeg = await sharp(points, { raw: { width: columns, height: rows, channels: 3 } })
    .resize(width, height, { fit: 'fill' })
    .jpeg()
    .toBuffer()
  return new Blob([new Uint8Array(jpeg)], { type: 'image/jpeg' })
}

function channelOf(angle: number, light: number): number {
  return Math.round(255 * (light + 0.25 * Math.cos((angle * Math.PI) / 180)))
}
