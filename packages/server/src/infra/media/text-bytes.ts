const byteOrderMarks = ['efbbbf', 'feff', 'fffe']

/**
 * Whether bytes can be text: a byte order mark, or none of the control codes that the WHATWG MIME Sniffing Standard
 * calls binary. Every usable picture, sound or archive has one in its first hundred bytes.
 */
export function canBeText(head: Uint8Array): boolean {
  const start = Buffer.from(head.subarray(0, 3)).toString('hex')
  return byteOrderMarks.some((mark) => start.startsWith(mark)) || !head.some(isBinaryCode)
}

function isBinaryCode(byte: number): boolean {
  const isSpace = byte === 0x09 || byte === 0x0a || byte === 0x0c || byte === 0x0d
  const isEscape = byte === 0x1b
  return byte < 0x20 && !isSpace && !isEscape
}
