import type { TenantId } from '#infra/db/index.ts'
import { type DocumentThread, ThreadDied } from './document-thread.ts'
import type { TenantWork } from './tenant-work.ts'
import { bytesOf, sharedLimitMs, shareOf, slowLimitMs, type ThreadLimits } from './thread-limits.ts'
import type { EngineAnswers, EngineRequest } from './worker-messages.ts'

type Asked = EngineRequest extends infer Request
  ? Request extends EngineRequest
    ? Omit<Request, 'doc'>
    : never
  : never

interface Holding {
  readonly doc: number
  readonly tenantId: TenantId
  readonly work: TenantWork
  readonly limits: ThreadLimits
  readonly expectedMs: number
  readonly bytes: number
}

// The processor time that a document may use at once in a shared thread, and per second afterwards, in milliseconds.
const burstMs = 500
const perSecondMs = 100

/** A document in a thread. */
export class HeldDocument {
  /** The estimated processor time of opening it, in milliseconds: the measured one, and that of all changes since. */
  openMs = 0
  readonly #thread: DocumentThread
  readonly #holding: Holding
  #isReleased = false
  #isOverShare = false
  #usedMs = 0
  #usedAtMs = 0

  constructor(thread: DocumentThread, holding: Holding) {
    this.#thread = thread
    this.#holding = holding
    thread.documents += 1
  }

  get isAlive(): boolean {
    return this.#thread.isAlive && !this.#isReleased
  }

  get isSlow(): boolean {
    return this.#thread.isSlow
  }

  /** Whether it has to move to the thread for slow documents. */
  get isToMove(): boolean {
    const { work, tenantId } = this.#holding
    return !this.isSlow && (this.#isOverShare || work.isApart(tenantId))
  }

  /** Throws `ThreadDied`. */
  async ask<Request extends Asked>(asked: Request): Promise<EngineAnswers[Request['kind']]> {
    const { doc, tenantId, limits, expectedMs, work, bytes } = this.#holding
    const request = { ...asked, doc } as EngineRequest
    const isAlone = this.isSlow
    const limitMs = isAlone
      ? slowLimitMs(limits, request, expectedMs)
      : sharedLimitMs(limits, bytes + bytesOf(request))
    try {
      const { answer, usedMs } = await this.#thread.ask({ request, tenantId, limitMs })
      this.#note(request, usedMs)
      return answer as EngineAnswers[Request['kind']]
    } catch (error) {
      if (error instanceof ThreadDied && error.isSuspect && !isAlone) work.keepApart(tenantId)
      throw error
    }
  }

  /** Drops the document in the thread. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#thread.documents -= 1
    if (this.#thread.isAlive) this.ask({ kind: 'close' }).catch(() => undefined)
  }

  #note(request: EngineRequest, usedMs: number): void {
    if (request.kind === 'open' || request.kind === 'apply') this.openMs += usedMs
    const { work, tenantId, bytes } = this.#holding
    const now = performance.now()
    const forgottenMs = ((now - this.#usedAtMs) / 1000) * perSecondMs
    this.#usedMs = Math.max(0, this.#usedMs - forgottenMs) + usedMs
    this.#usedAtMs = now
    if (this.isSlow) return
    const mostMs = shareOf(bytes + bytesOf(request))
    this.#isOverShare ||= usedMs > mostMs || this.#usedMs > burstMs + mostMs
    // A single update as slow as this is an attack: neither typing nor pasting makes one.
    if (request.kind === 'apply' && usedMs > mostMs) work.keepApart(tenantId)
  }
}
