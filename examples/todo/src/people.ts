import type { RtdbPresenceChange } from '@kith/app'

/** Who has the list open, by connection. Bound: the server shows a hundred. */
export class People {
  readonly #states = new Map<string, string>()
  #own = ''

  /** Takes a change of presence. */
  take(event: RtdbPresenceChange): void {
    if (event.action === 'sync') {
      this.#own = event.connId
      this.#states.clear()
      for (const { connId, state } of event.users) this.#set(connId, state)
    } else if (event.action === 'leave') this.#states.delete(event.connId)
    else this.#set(event.connId, event.state)
  }

  /** The others, each once. */
  others(): string[] {
    const others = [...this.#states].filter(([connId]) => connId !== this.#own)
    return [...new Set(others.map(([, idTag]) => idTag))].sort()
  }

  #set(connId: string, state: object): void {
    // The server puts the authenticated identity there.
    const { user } = state as { user?: { idTag?: string } }
    if (user?.idTag !== undefined) this.#states.set(connId, user.idTag)
  }
}
