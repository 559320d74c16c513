import type { FileId } from '@kith/protocol'
import type { Database, TenantId } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { FileEmitter } from '../events.ts'
import { updateModified } from './live-file-store.ts'

export interface ModifiedDeps extends FileEmitter {
  readonly db: Database
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
}

interface OpenFile {
  readonly tenantId: TenantId
  readonly fileId: FileId
  connections: number
  notedAtMs: number
  /** Of the note that waits for its minute. */
  callOff: (() => void) | undefined
}

const minuteMs = 60_000

/** Notes that the content of open files has changed: at once the first time, then at most once a minute for each file,
 * and when its last connection goes. */
export class ModifiedNotes {
  readonly #deps: ModifiedDeps
  // Bounded by the sockets.
  readonly #files = new Map<string, OpenFile>()
  // One for each open file at most, but for those that go.
  readonly #writing = new Set<Promise<void>>()

  constructor(deps: ModifiedDeps) {
    this.#deps = deps
  }

  /** For a connection to a file. Answers what to call when it has written, and when it goes. */
  open(tenantId: TenantId, fileId: FileId): { noteWritten(): void; close(): void } {
    const key = `${tenantId} ${fileId}`
    const known = this.#files.get(key)
    const file = known ?? { tenantId, fileId, connections: 0, notedAtMs: -minuteMs, callOff: undefined }
    if (!known) this.#files.set(key, file)
    file.connections += 1
    return {
      noteWritten: () => this.#note(file),
      close: () => {
        file.connections -= 1
        if (file.connections > 0) return
        this.#files.delete(key)
        if (file.callOff) this.#write(file)
      },
    }
  }

  /** Resolves when what was to be written so far is, or has failed. */
  async settled(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  #note(file: OpenFile): void {
    if (file.callOff) return
    const { clock } = this.#deps
    const dueMs = file.notedAtMs + minuteMs
    if (clock.now() >= dueMs) this.#write(file)
    else file.callOff = clock.wakeAt(dueMs, () => this.#write(file))
  }

  #write(file: OpenFile): void {
    const { db, clock, emit, logger } = this.#deps
    const { tenantId, fileId } = file
    file.callOff?.()
    file.callOff = undefined
    file.notedAtMs = clock.now()
    const writing = db
      .transact(
        tenantId,
        async (tx) => {
          const ownerTag = await updateModified(tx, fileId, nowSecs(clock))
          if (ownerTag !== undefined) await emit(tx, { kind: 'file.updated', fileId, to: [ownerTag] })
        },
        { isBackground: true },
      )
      .catch((error: unknown) => logger.error({ err: error, fileId }, 'a change of a file was not noted'))
      .finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }
}
