import { randomBytes } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import type { NodeBus } from '#infra/bus/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type AwarenessOwner, AwarenessTable, RemoteOwner } from './awareness-table.ts'
import { type AwarenessEntry, awarenessFrame } from './frames.ts'

export interface ExchangeDeps {
  readonly bus: NodeBus
  readonly clock: Clock
  /** Names this process among those of the server. */
  readonly node: string
}

/** What processes tell each other about a document. */
interface Message {
  readonly from: string
  /** The log has come so far. */
  readonly seq?: number
  /** Clients of connections of the sender, with whose they are. */
  readonly states?: readonly (AwarenessEntry & { readonly idTag?: IdTag })[]
  /** The sender has just opened the document, and knows of nobody. */
  readonly asks?: true
}

// The word of a process that died is over after three that did not come.
const wordMs = 75_000

export function newNodeName(): string {
  return randomBytes(9).toString('base64url')
}

/** Who looks at a document, here and on other processes. */
export class AwarenessExchange<Participant extends AwarenessOwner> {
  readonly #deps: ExchangeDeps
  readonly #channel: string
  readonly #tell: (frame: Uint8Array) => void
  readonly #table = new AwarenessTable<Participant | RemoteOwner>()
  // Bounded by the processes of the server.
  readonly #remotes = new Map<string, RemoteOwner>()

  constructor(deps: ExchangeDeps, channel: string, tell: (frame: Uint8Array) => void) {
    this.#deps = deps
    this.#channel = channel
    this.#tell = tell
  }

  get entries(): AwarenessEntry[] {
    return this.#table.entries
  }

  /** What a client said, with states that may be shown. Answers what is to be told to this client alone. */
  take(participant: Participant, entries: readonly AwarenessEntry[]): AwarenessEntry[] {
    const news: AwarenessEntry[] = []
    const taken: AwarenessEntry[] = []
    const stale: AwarenessEntry[] = []
    for (const entry of entries) {
      const result = this.#table.set(participant, entry)
      if (result === 'new') news.push(entry)
      if (result === 'taken') taken.push(entry)
      const known = result === 'stale' ? this.#table.find(entry.client) : undefined
      if (known) stale.push(known)
    }
    this.#say(news, participant.idTag)
    // The process that had it before says nothing when its connection ends.
    if (taken.length > 0) this.#share(taken, participant.idTag)
    return stale
  }

  leave(participant: Participant): void {
    this.#say(
      this.#table.release((owner) => owner === participant),
      participant.idTag,
    )
  }

  /** Asks other processes who is there, when the document is opened here. */
  ask(): void {
    this.#publish({ asks: true })
  }

  /** Repeats who is here, so that others know that this process lives. */
  repeat(): void {
    const states = this.#table.entriesOf((owner) => !(owner instanceof RemoteOwner))
    if (states.length > 0) this.#publish({ states: states.map(sendable) })
  }

  /** Forgets the clients of processes that were not heard for a while. */
  dropSilent(): void {
    const now = this.#deps.clock.now()
    for (const remote of this.#remotes.values()) {
      if (now - remote.heardAtMs < wordMs) continue
      this.#remotes.delete(remote.node)
      const ended = this.#table.release((owner) => owner === remote)
      if (ended.length > 0) this.#tell(awarenessFrame(ended))
    }
  }

  /** Reads what a process says; answers how far the log of another has come. */
  hear(text: string): { readonly seq: number | undefined } {
    const message = JSON.parse(text) as Message
    if (message.from === this.#deps.node) return { seq: undefined }
    if (message.asks) this.repeat()
    if (message.states) this.#hearStates(message.from, message.states)
    return { seq: message.seq }
  }

  message(content: Omit<Message, 'from'>): string {
    return JSON.stringify({ from: this.#deps.node, ...content } satisfies Message)
  }

  #hearStates(node: string, states: NonNullable<Message['states']>): void {
    const now = this.#deps.clock.now()
    const remote = this.#remotes.get(node) ?? new RemoteOwner(node, now)
    remote.heardAtMs = now
    this.#remotes.set(node, remote)
    const news = states.filter((entry) => this.#table.set(remote, entry, entry.idTag) === 'new')
    if (news.length > 0) this.#tell(awarenessFrame(news))
  }

  #say(entries: readonly AwarenessEntry[], idTag: IdTag | undefined): void {
    if (entries.length === 0) return
    this.#tell(awarenessFrame(entries))
    this.#share(entries, idTag)
  }

  #share(entries: readonly AwarenessEntry[], idTag: IdTag | undefined): void {
    this.#publish({ states: entries.map((entry) => sendable({ ...entry, idTag })) })
  }

  #publish(content: Omit<Message, 'from'>): void {
    this.#deps.bus.publish(this.#channel, this.message(content))
  }
}

function sendable({ idTag, ...entry }: AwarenessEntry & AwarenessOwner) {
  return idTag === undefined ? entry : { ...entry, idTag }
}
