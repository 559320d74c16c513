import { createAction, type NewAction } from '@kith/protocol'
import type { TestServer } from '../../../server/test/harness/test-server.ts'

/** People of a server, connected with one of them. */
export async function makeFriends(
  server: TestServer,
  of: string,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [idTag, name] of Object.entries(names)) {
    await server.createTenant(idTag, { name })
    await server.relate(of, idTag, { connection: 'connected' })
    await server.relate(idTag, of, { connection: 'connected' })
  }
}

/** Lets a person make actions, one after the other, and has them delivered. Answers their ids. */
export async function act(
  server: TestServer,
  idTag: string,
  ...bodies: readonly NewAction[]
): Promise<readonly string[]> {
  const client = await server.as(idTag)
  const ids: string[] = []
  for (const body of bodies) {
    ids.push((await client.call(createAction, { body })).data.actionId)
    await server.settle()
  }
  return ids
}
