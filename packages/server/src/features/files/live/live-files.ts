import { setImmediate as nextTurn } from 'node:timers/promises'
import { type FileId, parseFileId, type SocketClose } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { AnyCaller, Caller, Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { SocketRefusal } from '#infra/ws/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { AccessibleFile } from '../access/file-access-store.ts'
import { type FileLevel, writeLevel } from '../access/file-viewer.ts'
import type { LiveFileType } from '../contents/file-contents.ts'
import { AccessLook } from './find-live-access.ts'
import { type FileVisit, type LiveFile, OpenFile } from './live-file.ts'
import { type ModifiedDeps, ModifiedNotes } from './modified-notes.ts'

export interface LiveFilesDeps extends ModifiedDeps {
  /** The caller that a credential makes now. Throws `E-AUTH-UNAUTH` when it has ended. */
  recall(held: HeldCredential): Promise<Caller>
  /** Undefined when it is gone. */
  findTenant(tenantId: TenantId): Promise<{ readonly suspendedAt?: number | undefined } | undefined>
  /** Told of every reading; must not make the reader wait. */
  noteRead(read: { readonly tenant: Tenant; readonly caller: Caller; readonly fileId: FileId }): void
}

type Proof = FileVisit['proof']

interface Standing {
  readonly caller: Caller
  readonly level: Exclude<FileLevel, 0>
}

const readAgainSecs = 60
// A look at one file takes a fraction of a millisecond; with a deep tree of folders some.
const longestSliceMs = 5
// SQLite answers at once, PostgreSQL later; requests need its connections as well.
const askedAtOnce = { sqlite: 1, postgres: 4 }

/** The documents and databases that sockets have open, and whether their clients still may
 * (docs/protocol/realtime.md, Documents and databases). */
export class LiveFiles {
  readonly #deps: LiveFilesDeps
  readonly #modified: ModifiedNotes
  // Bounded by the sockets.
  readonly #open = new Map<FileVisit, OpenFile>()
  // One for all reviews: those of documents and of databases may go on at the same time.
  readonly #slices = new Slices()

  constructor(deps: LiveFilesDeps) {
    this.#deps = deps
    this.#modified = new ModifiedNotes(deps)
  }

  /** The file that the path of the socket names. Throws a `SocketRefusal`. Whoever opens a file closes it, also when what
   * comes after that fails. */
  async open(visit: FileVisit, fileTp: LiveFileType): Promise<LiveFile> {
    const { tenant } = visit
    const caller = admitted(visit.proof.caller)
    const fileId = parseFileId(String(visit.params.fileId))
    const found = fileId && (await new AccessLook(this.#deps).find(tenant, caller, fileId))
    // Who has shown no credential is told to, whether there is such a file or not.
    if (!fileId || !found || found.file.status === 'D')
      throw new SocketRefusal(caller.kind === 'guest' ? 'unauthenticated' : 'notFound')
    assertOpenable(found, fileTp, visit)
    const { noteWritten, close } = this.#modified.open(tenant.tenantId, fileId)
    const onClose = () => {
      this.#open.delete(visit)
      close()
    }
    const opened = new OpenFile({ visit, fileId, caller, level: found.level, noteWritten, onClose })
    this.#open.set(visit, opened)
    this.#noteRead(opened, caller)
    return opened
  }

  /** Which of these sockets have to end, and how: their file is gone, or the right to it. The others may write from now on,
   * or may not. */
  async review(visits: readonly FileVisit[]): Promise<ReadonlyMap<FileVisit, SocketClose>> {
    const closes = new Map<FileVisit, SocketClose>()
    // As many as there are sockets.
    const failures: unknown[] = []
    const look = new AccessLook(this.#deps)
    const rest = visits.values()
    const goThrough = async () => {
      for (const visit of rest) {
        const opened = this.#open.get(visit)
        if (!opened) continue
        await this.#slices.next()
        try {
          const why = await this.#reviewOne(look, opened)
          if (why) closes.set(visit, why)
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: askedAtOnce[this.#deps.db.dialect] }, goThrough))
    // What one look fails of does not keep the others open.
    if (failures.length > 0 && closes.size === 0) throw failures[0]
    return closes
  }

  /** Lets a socket go on with another credential; false, and nothing changed, when that is not good for its file. */
  async renew(visit: FileVisit, proof: Proof): Promise<boolean> {
    const opened = this.#open.get(visit)
    const now = opened && (await this.#standing(new AccessLook(this.#deps), opened, proof))
    if (now === undefined || typeof now === 'string') return false
    visit.renew(proof)
    opened?.allow(now.level)
    return true
  }

  /** Ends all, and resolves when nothing waits to be written: for the end of the process. */
  async close(): Promise<void> {
    for (const opened of [...this.#open.values()]) opened.close()
    await this.#modified.settled()
  }

  /** Resolves when what was to be written so far is. */
  settled(): Promise<void> {
    return this.#modified.settled()
  }

  async #reviewOne(look: AccessLook, opened: OpenFile): Promise<SocketClose | undefined> {
    const { visit } = opened
    const { proof } = visit
    const now = await this.#standing(look, opened, proof)
    // It has shown another credential meanwhile, which was looked at then.
    if (visit.proof !== proof) return undefined
    if (typeof now === 'string') return now
    opened.allow(now.level)
    this.#noteRead(opened, now.caller)
    return undefined
  }

  /** Who a credential makes its holder now and what it may do with the file, or why its socket has to end. */
  async #standing(
    look: AccessLook,
    { visit: { tenant }, fileId }: OpenFile,
    proof: Proof,
  ): Promise<Standing | SocketClose> {
    if (!proof.credential && !(await this.#isServed(tenant))) return 'notFound'
    const caller = proof.credential ? await this.#recall(proof.credential) : admitted(proof.caller)
    if (!caller) return 'unauthenticated'
    const access = await look.access(tenant, caller, fileId)
    if (access === 'gone') return 'notFound'
    if (access === 'withdrawn') return 'forbidden'
    return { caller, level: access }
  }

  /** A tenant that is suspended ends the credentials for it, and guests have none. */
  async #isServed({ tenantId }: Tenant): Promise<boolean> {
    const tenant = await this.#deps.findTenant(tenantId)
    return tenant !== undefined && tenant.suspendedAt === undefined
  }

  async #recall(held: HeldCredential): Promise<Caller | undefined> {
    try {
      return await this.#deps.recall(held)
    } catch (error) {
      if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return undefined
      throw error
    }
  }

  #noteRead(opened: OpenFile, caller: Caller): void {
    const { clock, noteRead } = this.#deps
    const now = nowSecs(clock)
    if (now - opened.readAt < readAgainSecs) return
    opened.readAt = now
    noteRead({ tenant: opened.visit.tenant, caller, fileId: opened.fileId })
  }
}

function admitted(caller: AnyCaller): Caller {
  if (caller.kind === 'key') throw new SocketRefusal('forbidden')
  return caller
}

function assertOpenable({ file, level }: AccessibleFile, fileTp: LiveFileType, { access }: FileVisit): void {
  if (file.fileTp !== fileTp) throw new SocketRefusal('wrongType')
  // Only the server of its owner has the content.
  if (file.isCopy) throw new SocketRefusal('notFound')
  if (access === 'write' && level < writeLevel) throw new SocketRefusal('forbidden')
}

/** Long work in pieces, between which others get their turn. */
class Slices {
  #startedAtMs = performance.now()
  #pausing: Promise<void> | undefined

  /** To be awaited before each step. */
  async next(): Promise<void> {
    while (performance.now() - this.#startedAtMs >= longestSliceMs) {
      this.#pausing ??= nextTurn().then(() => {
        this.#startedAtMs = performance.now()
        this.#pausing = undefined
      })
      await this.#pausing
    }
  }
}
