import { randomBytes } from 'node:crypto'
import { type RtdbPresenceChange, rtdbLimits } from '@kith/protocol'
import type { Clock } from '#lib/clock.ts'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import { presenceText } from '../socket/frames.ts'
import type { Listening } from '../subscriptions/listening.ts'

type Member = Pick<Listening, 'connId' | 'push'>
type States = ReadonlyMap<string, string>

/** A message between processes about presence. States are JSON text. */
export type PresenceNews =
  /** All members that are connected to this process. */
  | { readonly kind: 'members'; readonly node: string; readonly states: Readonly<Record<string, string>> }
  | { readonly kind: 'member'; readonly node: string; readonly connId: string; readonly state: string | null }
  /** A process that has just opened the database asks for the members of the others. */
  | { readonly kind: 'who'; readonly node: string }

interface PresenceDeps {
  readonly clock: Clock
  /** To all processes, this one included. */
  publish(news: PresenceNews): void
}

interface Own {
  readonly listening: Member
  second: number
  changes: number
  /** The newest state, when it was not told because of the rate. */
  waiting: { readonly state: string | null; readonly callOff: () => void } | undefined
}

const tellEveryMs = 25_000
// Two missing messages: the members of a process that died are removed 75 s after its last one at the latest.
const silentMs = 2 * tellEveryMs
const changesPerSecond = 10

/** Who looks at one database, and what they say of themselves. Nothing of it is stored. */
export class Presence {
  readonly #deps: PresenceDeps
  readonly #node = randomBytes(9).toString('base64url')
  // Bounded by the sockets.
  readonly #own = new Map<string, Own>()
  // Together at most `presenceMembers`.
  readonly #states = new Map<string, string>()
  readonly #others = new Map<string, { heardAtMs: number; readonly states: Map<string, string> }>()
  #callOff: (() => void) | undefined

  constructor(deps: PresenceDeps) {
    this.#deps = deps
  }

  /** The client is told who is there, and from now on who comes and goes. */
  join(listening: Member): void {
    const users = [...this.#all()].map(([connId, state]) => ({ connId, state: JSON.parse(state) as object }))
    this.#own.set(listening.connId, { listening, second: 0, changes: 0, waiting: undefined })
    const sync: RtdbPresenceChange = { action: 'sync', connId: listening.connId, users }
    listening.push(presenceText(JSON.stringify(sync)))
    if (this.#callOff) return
    this.#callOff = this.#wait()
    this.#deps.publish({ kind: 'who', node: this.#node })
  }

  leave(connId: string): void {
    const own = this.#own.get(connId)
    if (!own) return
    own.waiting?.callOff()
    this.#own.delete(connId)
    this.#set(connId, null)
    if (this.#own.size === 0) this.close()
  }

  /** What a client says of itself; null takes it back. `isThrottled` when others are told a little later. */
  say(connId: string, state: string | null): { readonly isThrottled: boolean } {
    const own = this.#own.get(connId)
    if (!own) throw new RtdbFailure(400, 'this socket was opened without presence=1')
    if (state !== null && !this.#states.has(connId) && this.#count() >= rtdbLimits.presenceMembers)
      throw new RtdbFailure(429, `at most ${rtdbLimits.presenceMembers} are shown`)
    own.waiting?.callOff()
    own.waiting = undefined
    if (this.#mayTell(own)) {
      this.#set(connId, state)
      return { isThrottled: false }
    }
    const { clock } = this.#deps
    const callOff = clock.wakeAt((own.second + 1) * 1000, () => {
      own.waiting = undefined
      this.#mayTell(own)
      this.#set(connId, state)
    })
    own.waiting = { state, callOff }
    return { isThrottled: true }
  }

  apply(news: PresenceNews): void {
    if (news.node === this.#node || this.#own.size === 0) return
    if (news.kind === 'who') {
      if (this.#states.size > 0) this.#tellProcesses()
      return
    }
    const other = this.#others.get(news.node) ?? { heardAtMs: 0, states: new Map<string, string>() }
    other.heardAtMs = this.#deps.clock.now()
    this.#others.set(news.node, other)
    if (news.kind === 'member') this.#change(other.states, news.connId, news.state)
    else this.#replace(other.states, new Map(Object.entries(news.states)))
    if (other.states.size === 0) this.#others.delete(news.node)
  }

  close(): void {
    this.#callOff?.()
    this.#callOff = undefined
    this.#others.clear()
  }

  #mayTell(own: Own): boolean {
    const second = Math.floor(this.#deps.clock.now() / 1000)
    if (second !== own.second) {
      own.second = second
      own.changes = 0
    }
    own.changes += 1
    return own.changes <= changesPerSecond
  }

  #set(connId: string, state: string | null): void {
    if (this.#change(this.#states, connId, state))
      this.#deps.publish({ kind: 'member', node: this.#node, connId, state })
  }

  /** Answers whether the state differs from the one before. */
  #change(states: Map<string, string>, connId: string, state: string | null): boolean {
    const before = states.get(connId)
    if (state === null) {
      if (!states.delete(connId)) return false
      this.#tell(connId, JSON.stringify({ action: 'leave', connId } satisfies RtdbPresenceChange))
      return true
    }
    if (before === undefined && this.#count() >= rtdbLimits.presenceMembers) return false
    states.set(connId, state)
    const action = before === undefined ? 'join' : 'update'
    this.#tell(connId, `{"action":"${action}","connId":${JSON.stringify(connId)},"state":${state}}`)
    return true
  }

  #replace(states: Map<string, string>, by: States): void {
    for (const connId of [...states.keys()]) if (!by.has(connId)) this.#change(states, connId, null)
    for (const [connId, state] of by) if (states.get(connId) !== state) this.#change(states, connId, state)
  }

  #tell(about: string, event: string): void {
    const others = [...this.#own.values()].filter(({ listening }) => listening.connId !== about)
    for (const { listening } of others) listening.push(presenceText(event))
  }

  *#all(): Iterable<[string, string]> {
    yield* this.#states
    for (const { states } of this.#others.values()) yield* states
  }

  #count(): number {
    let count = this.#states.size
    for (const { states } of this.#others.values()) count += states.size
    return count
  }

  #tellProcesses(): void {
    this.#deps.publish({ kind: 'members', node: this.#node, states: Object.fromEntries(this.#states) })
  }

  #wait(): () => void {
    const { clock } = this.#deps
    return clock.wakeAt(clock.now() + tellEveryMs, () => {
      this.#callOff = this.#wait()
      if (this.#states.size > 0) this.#tellProcesses()
      for (const [node, { heardAtMs, states }] of this.#others) {
        if (clock.now() - heardAtMs < silentMs) continue
        this.#others.delete(node)
        this.#replace(states, new Map())
      }
    })
  }
}
