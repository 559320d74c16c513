// A page navigates as soon as the worker has answered it. Bound: `maxAnnounced`.
const lastsMs = 60_000
const maxAnnounced = 100

interface Announced {
  readonly address: string
  readonly page: string
  readonly untilMs: number
}

let announced: readonly Announced[] = []

/** Takes note that the next navigation to an address, within a minute, is a page's own. */
export function announceDownload(address: string, page: string, nowMs: number): void {
  const present = announced.filter(({ untilMs }) => untilMs > nowMs)
  announced = [...present, { address, page, untilMs: nowMs + lastsMs }].slice(-maxAnnounced)
}

export function isAnnounced(address: string, nowMs: number): boolean {
  return announced.some((one) => one.address === address && one.untilMs > nowMs)
}

/** The page that a navigation is of, once for each time that it was announced. */
export function takeAnnounced(address: string, nowMs: number): string | undefined {
  const taken = announced.find((one) => one.address === address && one.untilMs > nowMs)
  announced = announced.filter((one) => one !== taken)
  return taken?.page
}

/** What nobody has asked for by the end of a session is nobody's. */
export function forgetAnnounced(): void {
  announced = []
}
