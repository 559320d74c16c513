import { createClient } from '@kith/client'
import { createFile, listActions } from '@kith/protocol'
import type { Given } from './given.ts'

export async function example({ baseUrl, token, show }: Given) {
  const client = createClient({ baseUrl, token })
  const { data: file } = await client.call(createFile, { body: { fileTp: 'CRDT', fileName: 'Minutes' } })
  show(file)
  for await (const actions of client.pages(listActions, { query: { limit: 50 } })) show(actions)
  return []
}
