// What Windows does not take in a name, and what makes a name look like another one.
const forbidden = /[<>:"|?*/\\\p{Cc}\p{Bidi_Control}]/gu
// The devices that every folder of Windows has, with any ending.
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=\.|$)/i
// File systems take 255 bytes; a number may come to it.
const maxBytes = 240
const maxEndingBytes = 40

/** A file name that every system unpacks as a name, and nothing else. */
export function safeName(fileName: string): string {
  const name = fileName
    .toWellFormed()
    .normalize('NFC')
    .replace(forbidden, '_')
    .replace(/[. ]+$/, (end) => '_'.repeat(end.length))
    .replace(/^ +/, (start) => '_'.repeat(start.length))
  return shortened(name === '' || device.test(name) ? `_${name}` : name)
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const [stem, ending] = split(name)
  let kept = ''
  let room = maxBytes - Buffer.byteLength(ending)
  for (const character of stem) {
    room -= Buffer.byteLength(character)
    if (room < 0) break
    kept += character
  }
  return `${kept}${ending}`
}

/** A name before and from its last dot. */
function split(name: string): [stem: string, ending: string] {
  const dot = name.lastIndexOf('.')
  const isEnding = dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxEndingBytes
  return isEnding ? [name.slice(0, dot), name.slice(dot)] : [name, '']
}

/** The names of one folder: what is there already, also in other case, gets a number. */
export class FolderNames {
  // As many as the folder has entries in the archive.
  readonly #taken = new Set<string>()
  readonly #numbers = new Map<string, number>()

  take(fileName: string): string {
    const name = safeName(fileName)
    const [stem, ending] = split(name)
    let number = this.#numbers.get(keyOf(name)) ?? 1
    let free = name
    while (this.#taken.has(keyOf(free))) {
      number += 1
      free = `${stem} (${number})${ending}`
    }
    this.#numbers.set(keyOf(name), number)
    this.#taken.add(keyOf(free))
    return free
  }
}

const keyOf = (name: string) => name.normalize('NFKC').toLowerCase()
