import { acceptAction, createAction, listActions, type NewAction, type Visibility } from '@kith/protocol'
import type { Person, TestNetwork } from '#harness/test-network.ts'

/** Publishes a post, for everybody unless it says otherwise, and lets it arrive. */
export async function post(
  network: TestNetwork,
  { client }: Person,
  text: string,
  how: Partial<NewAction> = {},
) {
  const body = { type: 'POST' as const, content: { text }, visibility: 'P' as Visibility, ...how }
  const { data } = await client.call(createAction, { body })
  await network.settle()
  return data as Omit<typeof data, 'actionId'> & { actionId: never }
}

export async function follow(network: TestNetwork, { client }: Person, followed: Person): Promise<void> {
  await client.call(createAction, { body: { type: 'FLLW', audienceTag: followed.idTag } })
  await network.settle()
}

export async function connect(network: TestNetwork, one: Person, other: Person): Promise<void> {
  const { data } = await one.client.call(createAction, {
    body: { type: 'CONN', audienceTag: other.idTag },
  })
  await network.settle()
  await other.client.call(acceptAction, { params: { actionId: data.actionId } })
  await network.settle()
}

/** The texts of the posts that somebody sees at home, newest first. */
export async function feedOf({ client }: Person): Promise<unknown[]> {
  const { data } = await client.call(listActions, { query: { type: ['POST'] } })
  return data.map(({ content }) => content?.text)
}
