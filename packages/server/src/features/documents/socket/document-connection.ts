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
  awarenessFrames,
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
  readonly #answers: Pace
  #dueAtMs = 0
  #stopWaiting: (() => void) | undefined
  #hasEnded = false
  #isRefused = false
  #waitingUpdates = 0
  #waitingBytes = 0
  #unreadBytes = 0
  #lastUnread: Promise<void> = Promise.resolve()
  #lastStored: Promise<void> = Promise.resolve()
  #isTold = false

  constructor(deps: ConnectionDeps) {
    this.#deps = deps
    this.idTag = deps.live.idTag
    const { clock, session } = deps
    const { editBytesPerMinute, leastEditBytes, answerBytesPerMinute, leastAnswerBytes } = crdtLimits
    this.#edits = new Pace(clock, editBytesPerMinute / leastEditBytes)
    this.#answers = new Pace(clock, answerBytesPerMinute / leastAnswerBytes)
    this.#awareness = new AwarenessPace(clock, {
      judge: (entry) => session.awareness.judge(this, entry),
      stamp: (entries) => this.#stamp(entries),
      isOwn: (client) => session.awareness.isOwner(this, client),
      onTurn: (entries) => this.#tellEnds(session.awareness.take(this, entries)),
    })
  }

  /** Sends step 1 and the awareness states. */
  async greet(): Promise<void> {
    const { socket, session } = this.#deps
    const stateVector = await session.ask({ kind: 'vector' })
    socket.send(stepOneFrame(stateVector))
    const { entries } = session.awareness
    if (entries.length > 0) for (const frame of awarenessFrames(entries)) await socket.answer(frame)
  }

  async receive(bytes: Uint8Array): Promise<void> {
    if (this.#unreadBytes > maxWaitingBytes) await this.#lastUnread
    if (this.#dueAtMs > this.#deps.clock.now()) await this.#turn()
    const frame = readFrame(bytes)
    // Where the client is gone by now, its edits count. What it shows of itself would be shown for ever.
    if (this.#hasEnded && (this.#isRefused || frame?.kind !== 'update')) return
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
        return await this.#tellStates()
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

  /** The socket is gone. Edits among what its client has sent are written, unless this side has closed it
   * (undefined); resolves when they are. */
  async end(unread: readonly Uint8Array[] | undefined): Promise<void> {
    this.#hasEnded = true
    this.#isRefused = unread === undefined
    this.#stopWaiting?.()
    this.#awareness.end()
    this.#deps.session.leave(this)
    for (const bytes of unread ?? []) {
      const frame = readFrame(bytes)
      if (frame?.kind === 'update') await this.#write(frame.update)
    }
    await this.#lastStored
    this.#deps.live.close()
  }

  async #tellStates(): Promise<void> {
    const frames = awarenessFrames(this.#deps.session.awareness.entries)
    this.#charge(this.#answers, bytesOf(frames), crdtLimits.leastAnswerBytes)
    for (const frame of frames) await this.#deps.socket.answer(frame)
  }

  /** Clients of which the connection has said something that is older than their end. */
  #tellEnds(entries: readonly AwarenessEntry[]): void {
    if (entries.length === 0) return
    const frames = awarenessFrames(entries)
    this.#charge(this.#answers, bytesOf(frames), crdtLimits.leastAnswerBytes)
    for (const frame of frames) this.send(frame, true)
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
    this.#charge(this.#answers, bytesOf(updates), crdtLimits.leastAnswerBytes)
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
      if (isNew) this.#charge(this.#edits, update.length, crdtLimits.leastEditBytes)
    })
    this.#lastStored = stored
    this.#waitingUpdates += 1
    this.#waitingBytes += update.length
    if (this.#waitingUpdates >= maxWaitingUpdates || this.#waitingBytes >= maxWaitingBytes) await stored
  }

  #charge(pace: Pace, bytes: number, leastBytes: number): void {
    const waitMs = pace.take(Math.max(1, Math.ceil(bytes / leastBytes)))
    if (waitMs > 0) this.#dueAtMs = Math.max(this.#dueAtMs, this.#deps.clock.now() + waitMs)
  }

  /** Resolves when the client is due, or gone. */
  async #turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { clock } = this.#deps
    const dueAtMs = this.#dueAtMs
    // The clock may have been set back: a debt is no longer than a minute.
    const callOff = clock.wakeAt(Math.min(dueAtMs, clock.now() + 60_000), resolve)
    this.#stopWaiting = resolve
    await promise
    callOff()
    if (this.#dueAtMs === dueAtMs) this.#dueAtMs = 0
  }

  /** Sets `user.idTag` in each state, and leaves out those that `stampState` refuses; none when one is malformed. */
  #stamp(entries: readonly AwarenessEntry[]): AwarenessEntry[] {
    const shown: AwarenessEntry[] = []
    for (const entry of entries) {
      const state = stampState(entry.state, this.idTag)
      if (state === 'malformed') {
        this.noteMistake()
        return []
      }
      if (state !== 'refused') shown.push({ ...entry, state })
    }
    return shown
  }
}

function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
