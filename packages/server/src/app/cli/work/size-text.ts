const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** A number of bytes for people: `512 B`, `1.5 MiB`. */
export function sizeText(bytes: number): string {
  const exponent = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const size = bytes / 1024 ** exponent
  return `${exponent === 0 ? size : size.toFixed(1)} ${units[exponent]}`
}
