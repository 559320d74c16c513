import { crdtLimits, type IdTag, type SocketClose } from '@kith/protocol'
import type { FileVisit, LiveFile } from '#features/files/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Pace } from '#lib/pace.ts'
import { AwarenessPace } from '../awareness/awareness-pace.ts'
import { stampState } from '../awareness/awareness-state.ts'
import type { DocumentSession } from '../session/document-session.ts'
import type { Participant } from '../session/participant.ts'
import {
  type AwarenessEntry,
  awarenessFrame,
  deniedFrame,
  readFrame,
  stepOneFrame,
  stepTwoFrame,
  updateFrame,
} from './frames.ts'

interface ConnectionDeps {
  readonly clock: Clock
  readonly socket: FileVisit['socket']
  readonly live: LiveFile
  readonly session: DocumentSession
}

// The state vector of a document with some hundred thousand clients.
const maxVectorBytes = 1024 ** 2
// Updates of a client that are not stored yet, or of which it has not read the confirmation. Above the bound it is not read.
const maxWaitingUpdates = 256
const maxWaitingBytes = 1024 ** 2

/** One socket that has a document open. */
export class DocumentConnection implements Participant {
  readonly idTag: IdTag | undefined
  readonly #deps: ConnectionDeps
  readonly #awareness: AwarenessPace
  readonly #edits: Pace
  #isDueAtMs = 0
  #hasEnded = false
  #waitingUpdates = 0
  #waitingBytes = 0
  #unreadBytes = 0
  #lastUnread: Promise<void> = Promise.resolve()
  #lastStored: Promise<void> = Promise.resolve()
  #isTold = false

  constructor(deps: ConnectionDeps) {
    this.#deps = deps
    this.idTag = deps.live.idTag
    const { editBytesPerMinute, leastEditBytes } = crdtLimits
    this.#edits = new Pace(deps.clock, editBytesPerMinute / leastEditBytes)
    this.#awareness = new AwarenessPace(deps.clock, {
      isNews: (entry) => deps.session.awareness.isNews(this, entry),
      onTurn: (entries) => this.#show(entries),
    })
  }

  /** Sends step 1 and the awareness states. */
  async greet(): Promise<void> {
    const { socket, session } = this.#deps
    const stateVector = await session.ask({ kind: 'vector' })
    socket.send(stepOneFrame(stateVector))
    const { entries } = session.awareness
    if (entries.length > 0) socket.send(awarenessFrame(entries))
  }

  async receive(bytes: Uint8Array): Promise<void> {
    if (this.#unreadBytes > maxWaitingBytes) await this.#lastUnread
    if (this.#isDueAtMs > this.#deps.clock.now()) await this.#turn()
    // What came meanwhile would be shown for ever.
    if (this.#hasEnded) return
    const frame = readFrame(bytes)
    switch (frame?.kind) {
      case undefined:
        this.noteMistake()
        return
      case 'step1':
        return await this.#sync(frame.stateVector)
      case 'update':
        return await this.#write(frame.update)
      case 'awareness':
        return this.#awareness.take(frame.entries)
      case 'queryAwareness':
        return await this.#deps.socket.answer(awarenessFrame(this.#deps.session.awareness.entries))
    }
  }

  send(frame: Uint8Array, isAnswer = false): void {
    const { socket } = this.#deps
    if (!isAnswer) {
      socket.send(frame)
      return
    }
    this.#unreadBytes += frame.length
    this.#lastUnread = socket.answer(frame).then(() => {
      this.#unreadBytes -= frame.length
    })
  }

  noteMistake(): void {
    this.#deps.socket.noteMistake()
  }

  noteWritten(): void {
    this.#deps.live.noteWritten()
  }

  close(why: SocketClose): void {
    this.#deps.socket.close(why)
  }

  /** The socket is gone. */
  end(): void {
    this.#hasEnded = true
    this.#awareness.end()
    this.#deps.session.leave(this)
    this.#deps.live.close()
  }

  async #sync(stateVector: Uint8Array): Promise<void> {
    const { socket, session } = this.#deps
    if (stateVector.length > maxVectorBytes) {
      this.noteMistake()
      return
    }
    // Step 2 confirms to the client that its earlier updates are stored.
    await this.#lastStored
    const updates = await session.ask({ kind: 'diff', stateVector: stateVector.slice() })
    if (!updates) {
      this.noteMistake()
      return
    }
    // Clients wait for step 2: it comes last.
    for (const [at, update] of updates.entries())
      await socket.answer(at < updates.length - 1 ? updateFrame(update) : stepTwoFrame(update))
  }

  async #write(update: Uint8Array): Promise<void> {
    const { live, session, socket } = this.#deps
    if (!live.canWrite) {
      if (this.#isTold) return
      this.#isTold = true
      return await socket.answer(deniedFrame('this document is read-only for you'))
    }
    this.#isTold = false
    // A copy: a view would transfer the whole buffer of the socket to the thread.
    const stored = session.submit(this, update.slice()).then((isNew) => {
      this.#waitingUpdates -= 1
      this.#waitingBytes -= update.length
      if (isNew) this.#charge(update.length)
    })
    this.#lastStored = stored
    this.#waitingUpdates += 1
    this.#waitingBytes += update.length
    if (this.#waitingUpdates >= maxWaitingUpdates || this.#waitingBytes >= maxWaitingBytes) await stored
  }

  #charge(bytes: number): void {
    const waitMs = this.#edits.take(Math.max(1, Math.ceil(bytes / crdtLimits.leastEditBytes)))
    this.#isDueAtMs = this.#deps.clock.now() + waitMs
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.wakeAt(this.#isDueAtMs, resolve))
  }

  #show(entries: readonly AwarenessEntry[]): void {
    const shown: AwarenessEntry[] = []
    for (const entry of entries) {
      const state = stampState(entry.state, this.idTag)
      if (state === 'malformed') {
        this.noteMistake()
        return
      }
      if (state !== 'refused') shown.push({ ...entry, state })
    }
    const stale = this.#deps.session.awareness.take(this, shown)
    if (stale.length > 0) this.#deps.socket.send(awarenessFrame(stale))
  }
}
