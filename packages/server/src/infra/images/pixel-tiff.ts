export interface Pixels {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  /** Of 8 bits: red, green, blue, and how opaque. */
  readonly channels: 3 | 4
  /** The colour profile that the values are meant by. */
  readonly profile: Uint8Array | undefined
}

const shorts = 3
const longs = 4
const bytes = 7

/** Pixels as an uncompressed TIFF (6.0, section 6): the one form in which a decoder takes them with their colour profile. */
export function pixelTiff({ data, width, height, channels, profile }: Pixels): Buffer {
  const entries = channels === 4 ? 11 : 10
  const directoryEnd = 8 + 2 + entries * 12 + 4
  const bitsAt = directoryEnd
  const profileAt = bitsAt + 8
  const dataAt = profileAt + (profile ? profile.length + (profile.length % 2) : 0)
  const file = Buffer.alloc(dataAt + data.length)
  file.write('II*\0', 'latin1')
  file.writeUInt32LE(8, 4)
  let at = 10
  const put = (tag: number, type: number, count: number, value: number) => {
    file.writeUInt16LE(tag, at)
    file.writeUInt16LE(type, at + 2)
    file.writeUInt32LE(count, at + 4)
    file.writeUInt32LE(value, at + 8)
    at += 12
  }
  put(256, longs, 1, width)
  put(257, longs, 1, height)
  put(258, shorts, channels, bitsAt)
  put(259, shorts, 1, 1)
  put(262, shorts, 1, 2)
  put(273, longs, 1, dataAt)
  put(277, shorts, 1, channels)
  put(278, longs, 1, height)
  put(279, longs, 1, data.length)
  if (channels === 4) put(338, shorts, 1, 2)
  if (profile) put(34675, bytes, profile.length, profileAt)
  file.writeUInt16LE((at - 10) / 12, 8)
  for (let channel = 0; channel < channels; channel++) file.writeUInt16LE(8, bitsAt + channel * 2)
  if (profile) file.set(profile, profileAt)
  file.set(data, dataAt)
  return file
}
