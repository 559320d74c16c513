import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import type { ActionId } from '@kith/protocol'
import { packTar, unpackTar } from 'modern-tar'
import { ownActionId } from '#features/actions/index.ts'

export type ArchiveRow = Record<string, string | number | null>

interface ArchiveJob {
  readonly kind: string
  readonly payload: string
  readonly runAtMs: number
}

const linesPerPart = 500

/** The archive of a tenant, to be changed and written again with a manifest that fits. */
export class TenantArchive {
  readonly about: { withKeys: boolean; tenant: Record<string, unknown> }
  /** By the name of their table, in the order in which they are written. */
  readonly tables: Map<string, ArchiveRow[]>
  readonly jobs: ArchiveJob[]
  readonly blobs: Map<string, Buffer>

  private constructor(files: ReadonlyMap<string, Buffer>) {
    this.about = JSON.parse(String(files.get('about.json')))
    this.tables = new Map()
    this.jobs = []
    this.blobs = new Map()
    for (const [name, bytes] of files) {
      const [folder, table = ''] = name.split('/')
      if (folder === 'rows') this.rows(table).push(...linesOf<ArchiveRow>(bytes))
      if (folder === 'jobs') this.jobs.push(...linesOf<ArchiveJob>(bytes))
      if (folder === 'blobs') this.blobs.set(table, bytes)
    }
  }

  static async read(path: string): Promise<TenantArchive> {
    const entries = await unpackTar(await readFile(path))
    return new TenantArchive(
      new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])])),
    )
  }

  rows(table: string): ArchiveRow[] {
    const rows = this.tables.get(table) ?? []
    this.tables.set(table, rows)
    return rows
  }

  /** The one row that fits. */
  row(table: string, match: ArchiveRow): ArchiveRow {
    const found = this.rows(table).filter((row) =>
      Object.entries(match).every(([column, value]) => row[column] === value),
    )
    const [row] = found
    if (!row || found.length > 1) throw new Error(`${found.length} rows of ${table} fit`)
    return row
  }

  async write(path: string): Promise<void> {
    const tables: Record<string, { rows: number; sha256: string }> = {}
    const files: [string, Buffer][] = [['about.json', lines([this.about])]]
    for (const [table, rows] of this.tables) {
      if (rows.length === 0) continue
      const body = lines(rows)
      tables[table] = { rows: rows.length, sha256: createHash('sha256').update(body).digest('hex') }
      for (let at = 0; at < rows.length; at += linesPerPart) {
        const part = String(at / linesPerPart + 1).padStart(6, '0')
        files.push([`rows/${table}/${part}.jsonl`, lines(rows.slice(at, at + linesPerPart))])
      }
    }
    for (const [hash, bytes] of this.blobs) files.push([`blobs/${hash}`, bytes])
    if (this.jobs.length > 0) files.push(['jobs/000001.jsonl', lines(this.jobs)])
    const bytes = [...this.blobs.values()].reduce((sum, blob) => sum + blob.length, 0)
    const blobs = { count: this.blobs.size, bytes }
    files.push(['manifest.json', lines([{ tables, jobs: this.jobs.length, blobs }])])
    await writeFile(
      path,
      await packTar(files.map(([name, body]) => ({ header: { name, size: body.length }, body }))),
    )
  }
}

/** The row of a token that says what its issuer never said, signed by a key that was just made up. */
export function forgedRow(
  archive: TenantArchive,
  like: ActionId,
  members: Record<string, unknown>,
): ArchiveRow {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  return signedRow(archive, like, { members, key: privateKey })
}

/** The same by the key of the archive, which has to hold it. */
export function ownRow(archive: TenantArchive, like: ActionId, members: Record<string, unknown>): ArchiveRow {
  const { sealed_private_key: key } = archive.rows('signing_keys')[0] ?? {}
  const der = Buffer.from(String(key), 'base64')
  return signedRow(archive, like, {
    members,
    key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
  })
}

function signedRow(
  archive: TenantArchive,
  like: ActionId,
  { members, key }: { readonly members: Record<string, unknown>; readonly key: KeyObject },
): ArchiveRow {
  const row = archive.row('actions', { action_id: like })
  const [header = '', body = ''] = String(row.token).split('.')
  const nonce = `${'forged'.padEnd(21, 'A')}A`
  const payload = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), ...members, nonce }
  const actionId = ownActionId(payload.issuerTag, nonce)
  const said = Buffer.from(JSON.stringify({ ...payload, actionId })).toString('base64url')
  const signature = sign('sha384', Buffer.from(`${header}.${said}`), { key, dsaEncoding: 'ieee-p1363' })
  return {
    ...row,
    issuer_tag: payload.issuerTag,
    visibility: payload.visibility ?? null,
    content: JSON.stringify(payload.content),
    type: payload.type,
    parent_id: payload.parentId ?? null,
    unique_key: null,
    action_id: actionId,
    nonce,
    token: `${header}.${said}.${signature.toString('base64url')}`,
  }
}

function linesOf<Line>(bytes: Buffer): Line[] {
  return String(bytes)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

function lines(values: readonly unknown[]): Buffer {
  return Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
}
