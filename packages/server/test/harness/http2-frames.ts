/** Frames of HTTP/2 (RFC 9113 section 4) for what no client library sends. */
export const frameTypes = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 } as const

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frame(
  type: keyof typeof frameTypes,
  { stream = 0, flags = 0, payload = Buffer.alloc(0) }: { stream?: number; flags?: number; payload?: Buffer },
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(frameTypes[type], 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A header block without compression (RFC 7541 section 6.2.2); names and values are shorter than 127 bytes. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)])
  return Buffer.concat(
    Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.of(0), text(name), text(value)])),
  )
}
