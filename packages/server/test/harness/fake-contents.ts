import type { FileId, IdTag } from '@kith/protocol'
import type { ContentSnapshot, CopyAhead, FileContents, Restoration } from '#features/files/index.ts'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'

interface FakeState {
  /** Each is a piece, and what is removed at once. */
  readonly rows: string[]
  readonly snapshots: (ContentSnapshot & { readonly text: string })[]
}

/** What is in documents or databases, in memory: texts. */
export class FakeContents implements FileContents {
  readonly mediaType: string
  readonly restored: Restoration[] = []
  // By tenant and file; as many as a test makes.
  readonly #states = new Map<string, FakeState>()

  constructor(mediaType: string) {
    this.mediaType = mediaType
  }

  write(tenantId: TenantId, fileId: string, ...rows: string[]): void {
    this.#state(tenantId, fileId).rows.push(...rows)
  }

  addSnapshot(tenantId: TenantId, fileId: string, snapshot: ContentSnapshot & { text: string }): void {
    this.#state(tenantId, fileId).snapshots.unshift(snapshot)
  }

  /** How many rows there are of a file. */
  rowsOf(tenantId: TenantId, fileId: string): number {
    return this.#states.get(`${tenantId} ${fileId}`)?.rows.length ?? 0
  }

  async *present(tenantId: TenantId, fileId: FileId): AsyncGenerator<Uint8Array> {
    for (const row of this.#state(tenantId, fileId).rows) yield Buffer.from(row)
  }

  async listSnapshots({ tenantId }: Reader, fileId: FileId): Promise<readonly ContentSnapshot[]> {
    return this.#state(tenantId, fileId).snapshots
  }

  async snapshot(tenantId: TenantId, fileId: FileId, seq: number) {
    const found = this.#state(tenantId, fileId).snapshots.find((snapshot) => snapshot.seq === seq)
    return found && piecesOf(found.text)
  }

  async restore(restoration: Restoration): Promise<number> {
    const { tenantId, fileId, seq } = restoration
    const state = this.#state(tenantId, fileId)
    const found = state.snapshots.find((snapshot) => snapshot.seq === seq)
    if (!found) throw new Failure('E-NOTFOUND')
    this.restored.push(restoration)
    state.rows.splice(0, state.rows.length, found.text)
    return (state.snapshots[0] as ContentSnapshot).seq + 1
  }

  async copy(tx: Writer, from: FileId, to: FileId): Promise<number> {
    const { tenantId } = tx
    const rows = [...this.#state(tenantId, from).rows]
    tx.afterCommit(() => this.write(tenantId, to, ...rows))
    return Buffer.byteLength(rows.join(''))
  }

  async copyAhead({ tenantId, from, to }: CopyAhead): Promise<number> {
    const { rows } = this.#state(tenantId, from)
    this.write(tenantId, to, ...rows)
    return Buffer.byteLength(rows.join(''))
  }

  async remove(tx: Writer, fileIds: readonly FileId[], limit: number): Promise<boolean> {
    let room = limit
    const left = fileIds.filter((fileId) => {
      const { rows } = this.#state(tx.tenantId, fileId)
      room -= rows.splice(0, room).length
      return rows.length > 0
    })
    return left.length === 0
  }

  #state(tenantId: TenantId, fileId: string): FakeState {
    const key = `${tenantId} ${fileId}`
    const known = this.#states.get(key)
    if (known) return known
    const made: FakeState = { rows: [], snapshots: [] }
    this.#states.set(key, made)
    return made
  }
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** A snapshot with defaults. */
export function snapshotOf(seq: number, text: string, ...writers: string[]) {
  const size = Buffer.byteLength(text)
  return { seq, createdAt: 1_700_000_000 + seq, size, writers: writers as IdTag[], text }
}
