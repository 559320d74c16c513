import type { FileId } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'

/** The tables of this room. */
export interface DocumentTables {
  crdt_documents: {
    tenant_id: TenantId
    file_id: FileId
    last_seq: number
    state_bytes: number
    log_bytes: number
    uncounted_bytes: number
    open_ms: number
    thin_at: number | null
  }
  crdt_updates: Part & { writers: string | null; updates: number; quarantined_at: number | null }
  crdt_snapshots: {
    tenant_id: TenantId
    file_id: FileId
    seq: number
    created_at: number
    size: number
    writers: string
    quarantined_at: number | null
  }
  crdt_snapshot_parts: Part
}

interface Part {
  tenant_id: TenantId
  file_id: FileId
  seq: number
  part: number
  bytes: Uint8Array
}

/** A document, as its tables know it. */
export interface AtFile {
  readonly tenantId: TenantId
  readonly fileId: FileId
}

// An export reads 200 rows at once.
export const partBytes = 128 * 1024

/** The parts in which bytes are stored; one of nothing for no bytes. */
export function partsOf(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let from = 0; from === 0 || from < bytes.length; from += partBytes)
    parts.push(bytes.subarray(from, from + partBytes))
  return parts
}
