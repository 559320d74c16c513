import { randomBytes } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import type { NodeBus } from '#infra/bus/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type AwarenessEntry, awarenessFrames } from '../socket/frames.ts'
import { type AwarenessOwner, AwarenessTable, RemoteOwner, type Verdict } from './awareness-table.ts'

export interface ExchangeDeps {
  readonly bus: NodeBus
  readonly clock: Clock
  /** The id of this process. */
  readonly node: string
}

/** A message between processes about a document. */
interface Message {
  readonly from: string
  /** The last number of the log. */
  readonly seq?: number
  /** Awareness clients of the sender's connections, with their identities. */
  readonly states?: readonly (AwarenessEntry & { readonly idTag?: IdTag })[]
  /** Removals of clients whose states another process tells that are not newer. */
  readonly removed?: readonly AwarenessEntry[]
  /** The sender has just opened the document, and asks for the states of the others. */
  readonly asks?: true
}

// A process repeats its states every 25 s; after three missing repetitions it counts as dead.
const silentMs = 75_000

export function newNodeName(): string {
  return randomBytes(9).toString('base64url')
}

interface Receiver {
  send(frame: Uint8Array): void
}

/** The awareness of one document, over all processes. */
export class AwarenessExchange<Participant extends AwarenessOwner & Receiver> {
  readonly #deps: ExchangeDeps
  readonly #channel: string
  readonly #tellAll: (frame: Uint8Array) => void
  readonly #table: AwarenessTable<Participant | RemoteOwner>
  // Bounded by the processes of the server.
  readonly #remotes = new Map<string, RemoteOwner>()

  constructor(deps: ExchangeDeps, channel: string, tell: (frame: Uint8Array) => void) {
    this.#deps = deps
    this.#channel = channel
    this.#tellAll = tell
    this.#table = new AwarenessTable(deps.clock)
  }

  get entries(): AwarenessEntry[] {
    return this.#table.entries
  }

  /** Applies a client's states with its authenticated identity, and tells the others. Returns the removals for
   * this client alone. */
  take(participant: Participant, entries: readonly AwarenessEntry[]): AwarenessEntry[] {
    const news: AwarenessEntry[] = []
    const removed: AwarenessEntry[] = []
    for (const entry of entries) {
      const result = this.#table.set(participant, entry)
      if (result === 'new') news.push(entry)
      if (result === 'stale') removed.push(...this.#removalOf(entry))
    }
    this.#say(news, participant.idTag)
    return removed
  }

  /** What `take` would make of it. */
  judge(participant: Participant, entry: AwarenessEntry): Verdict {
    return this.#table.judge(participant, entry)
  }

  isOwner(participant: Participant, client: number): boolean {
    return this.#table.ownerOf(client) === participant
  }

  leave(participant: Participant): void {
    this.#say(
      this.#table.release((owner) => owner === participant),
      participant.idTag,
    )
  }

  /** Asks other processes for their states, when the document is opened here. */
  ask(): void {
    this.#publish({ asks: true })
  }

  /** Repeats the states of this process, as a sign of life. */
  repeat(): void {
    const states = this.#table.entriesOf((owner) => !(owner instanceof RemoteOwner))
    if (states.length > 0) this.#publish({ states: states.map(sendable) })
  }

  /** Removes the clients of processes that were silent for too long. */
  dropSilent(): void {
    const now = this.#deps.clock.now()
    for (const remote of this.#remotes.values()) {
      if (now - remote.heardAtMs < silentMs) continue
      this.#remotes.delete(remote.node)
      const ended = this.#table.release((owner) => owner === remote)
      this.#tell(ended)
    }
  }

  /** Applies a message of another process; returns how far its log is. */
  hear(text: string): { readonly seq: number | undefined } {
    const message = JSON.parse(text) as Message
    if (message.from === this.#deps.node) return { seq: undefined }
    if (message.asks) this.repeat()
    if (message.states) this.#hearStates(message.from, message.states)
    for (const entry of message.removed ?? []) this.#hearRemoved(entry)
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
    const news: AwarenessEntry[] = []
    const removed: AwarenessEntry[] = []
    for (const entry of states) {
      const result = this.#table.set(remote, entry, entry.idTag)
      if (result === 'new') news.push(entry)
      if (result === 'stale') removed.push(...this.#removalOf(entry))
    }
    this.#tell(news)
    if (removed.length > 0) this.#publish({ removed })
  }

  /** Its client came back to this process, which did not know that others were told of its end. */
  #hearRemoved(entry: AwarenessEntry): void {
    const owner = this.#table.ownerUpTo(entry)
    if (owner && !(owner instanceof RemoteOwner))
      for (const frame of awarenessFrames([entry])) owner.send(frame)
  }

  #removalOf({ client }: AwarenessEntry): AwarenessEntry[] {
    const known = this.#table.find(client)
    return known ? [known] : []
  }

  #say(entries: readonly AwarenessEntry[], idTag: IdTag | undefined): void {
    if (entries.length === 0) return
    this.#tell(entries)
    this.#publish({ states: entries.map((entry) => sendable({ ...entry, idTag })) })
  }

  #tell(entries: readonly AwarenessEntry[]): void {
    if (entries.length === 0) return
    for (const frame of awarenessFrames(entries)) this.#tellAll(frame)
  }

  #publish(content: Omit<Message, 'from'>): void {
    this.#deps.bus.publish(this.#channel, this.message(content))
  }
}

function sendable({ idTag, ...entry }: AwarenessEntry & AwarenessOwner) {
  return idTag === undefined ? entry : { ...entry, idTag }
}
