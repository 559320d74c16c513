import { randomBytes } from 'node:crypto'
import type { Client, KithError } from '@kith/client'
import { getAccountExport, startAccountExport } from '@kith/protocol'
import { expect } from 'vitest'
import type { TestServer } from './test-server.ts'

export const archivePath = (ticket: string) => `/api/export/archive?ticket=${ticket}`
export const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    ({ status, code, details }: KithError) => ({ status, code, ...details }),
  )

export async function ticketOf(client: Client): Promise<string> {
  return (await client.call(startAccountExport)).data.ticket
}

export const statusOf = async (client: Client) => (await client.call(getAccountExport)).data

/** Bytes that no buffer on the way holds: a reader who stops stops the server. They count as used. */
export async function keepBytes(server: TestServer, idTag: string, megabytes: number): Promise<void> {
  const { blobs } = server.running.services
  const tenant = await server.running.features.identity.tenants.find(idTag as never)
  if (!tenant) throw new Error(`${idTag} does not live here`)
  const chunk = randomBytes(1024 * 1024)
  async function* bytes() {
    for (let at = 0; at < megabytes; at += 1) yield chunk
  }
  const staged = await blobs.stage(tenant.tenantId, bytes(), { maxBytes: megabytes * chunk.length })
  await staged.keep()
  const row = { tenant_id: tenant.tenantId, blob_hash: staged.hash, size: staged.size, uses: 1 }
  await server.db.transact(tenant.tenantId, async (tx) => {
    await tx.tables<{ blobs: typeof row }>().insertInto('blobs').values(row).execute()
  })
}

/** Begins to read an archive, and goes on no further. */
export async function beginReading(server: TestServer, idTag: string, ticket: string) {
  const leaving = new AbortController()
  const answer = await server.request(idTag, archivePath(ticket), { signal: leaving.signal })
  expect(answer.status).toBe(200)
  const reader = answer.body?.getReader()
  await reader?.read()
  const readOn = async () => {
    for (;;) if (!reader || (await reader.read()).done) return
  }
  return { readOn, leave: () => leaving.abort() }
}
