/** A port of the loopback address on which nothing listens: it is below 1024, so that only root can listen on it, and no service
 * is assigned to it. */
export const closedPort = 4

/** A loopback address that only this process uses, so that all its ports are free. It is made of the process id. There are three
 * ranges within 127.0.0.0/8, for three addresses per process. */
export function ownAddress(which: 0 | 1 | 2 = 0): string {
  const { pid } = process
  return `127.${1 + 64 * which + (pid >> 16)}.${(pid >> 8) & 255}.${pid & 255}`
}
