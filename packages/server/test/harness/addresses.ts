/** A port of the loopback address on which nobody listens: none is registered for it, and only root could. */
export const closedPort = 4

/** A loopback address on which nobody but this process listens, so that every port of it is free: made of the process id. There
 * are three. */
export function ownAddress(which: 0 | 1 | 2 = 0): string {
  const { pid } = process
  return `127.${1 + 64 * which + (pid >> 16)}.${(pid >> 8) & 255}.${pid & 255}`
}
