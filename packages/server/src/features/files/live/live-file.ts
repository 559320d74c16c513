import type { FileId, IdTag } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import { type Caller, idTagOf } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { SocketVisit } from '#infra/ws/index.ts'
import { type FileLevel, writeLevel } from '../access/file-viewer.ts'

export type FileVisit = SocketVisit<HeldCredential>

/** A document or a database that one socket has open. */
export interface LiveFile {
  readonly tenantId: TenantId
  readonly fileId: FileId
  /** The authenticated identity; undefined for guests, with a reference or without. */
  readonly idTag: IdTag | undefined
  /** May its client change the file now? Looked at again every few seconds. Never with `?access=read`. */
  readonly canWrite: boolean
  /** Its client has changed the content. */
  noteWritten(): void
  /** To be called once the socket is gone. */
  close(): void
}

interface Opening {
  readonly visit: FileVisit
  readonly fileId: FileId
  readonly caller: Caller
  readonly level: FileLevel
  readonly noteWritten: () => void
  readonly onClose: () => void
}

export class OpenFile implements LiveFile {
  readonly tenantId: TenantId
  readonly fileId: FileId
  readonly idTag: IdTag | undefined
  readonly visit: FileVisit
  /** When its client was last noted to read it, Unix seconds. */
  readAt = 0
  readonly #opening: Opening
  #level: FileLevel
  #isClosed = false

  constructor(opening: Opening) {
    const { visit, fileId, caller, level } = opening
    this.tenantId = visit.tenant.tenantId
    this.fileId = fileId
    this.idTag = idTagOf(caller)
    this.visit = visit
    this.#opening = opening
    this.#level = level
  }

  get canWrite(): boolean {
    return this.#level >= writeLevel && this.visit.access !== 'read' && !this.#isClosed
  }

  allow(level: FileLevel): void {
    this.#level = level
  }

  noteWritten(): void {
    if (!this.#isClosed) this.#opening.noteWritten()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#opening.onClose()
  }
}
