import { randomBytes } from 'node:crypto'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { Caller, Identified } from '#infra/caller/index.ts'
import type { SocketVisit } from '#infra/ws/index.ts'
import { Failure } from '#lib/failure.ts'
import type { Notice } from './notice.ts'
import { type Account, type RenderDeps, renderNotice, scopeShows } from './render-notice.ts'

export interface ConnectionDeps extends RenderDeps {
  /** The caller that a credential makes now. Throws `E-AUTH-UNAUTH` when it has ended. */
  recall(held: HeldCredential): Promise<Caller>
}

const maxAfterReplay = 1000

/** One client of the bus. */
export class Connection {
  readonly visit: SocketVisit<HeldCredential>
  readonly idTag: Identified['idTag']
  /** The number that the log had when the client came; undefined until that is known. */
  startedAt: number | undefined
  /** The number of the last event that it was sent, or that was not for it. */
  position = 0
  /** It is sent past events now, and live events afterwards. */
  isReplaying = false
  // What stands in no log and happened during a replay.
  readonly #afterReplay: string[] = []
  readonly #deps: ConnectionDeps

  constructor(deps: ConnectionDeps, visit: SocketVisit<HeldCredential>, { idTag }: Identified) {
    this.#deps = deps
    this.visit = visit
    this.idTag = idTag
  }

  get isOpen(): boolean {
    return this.visit.socket.isOpen
  }

  /** The identity as which it may be told such a notice now; undefined when it may not. */
  async accountFor(kind: Notice['kind']): Promise<Account | undefined> {
    const { visit } = this
    const { credential } = visit.proof
    if (!this.isOpen || !credential) return undefined
    try {
      const caller = await this.#deps.recall(credential)
      if (caller.kind !== 'identity' || !scopeShows(caller.scope, kind)) return undefined
      return { tenant: visit.tenant, caller }
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'E-AUTH-UNAUTH') throw error
      visit.socket.close('unauthenticated')
      return undefined
    }
  }

  /** Tells this client alone of what it has asked for. */
  async tell(notice: Notice, seq: number): Promise<void> {
    const account = await this.accountFor(notice.kind)
    const data = account && (await renderNotice(this.#deps, account, notice))
    // At the pace of the client.
    if (data !== undefined) await this.visit.socket.answer(eventText(notice.kind, data, seq))
  }

  /** Tells it of something that happens now, after what is replayed. */
  send(text: string): void {
    if (!this.isReplaying) this.visit.socket.send(text)
    else if (this.#afterReplay.length < maxAfterReplay) this.#afterReplay.push(text)
    else this.visit.socket.close('overloaded')
  }

  endReplay(): void {
    this.isReplaying = false
    for (const text of this.#afterReplay.splice(0)) this.visit.socket.send(text)
  }
}

/** The text of an event. */
export function eventText(cmd: Notice['kind'], data: string, seq: number | undefined): string {
  const id = randomBytes(18).toString('base64url')
  const numbered = seq === undefined ? '' : `,"seq":${seq}`
  return `{"id":"${id}","cmd":"${cmd}","data":${data}${numbered}}`
}
