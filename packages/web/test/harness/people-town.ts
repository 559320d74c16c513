import type { Client } from '@kith/client'
import {
  acceptAction,
  createAction,
  createCommunity,
  updateMe,
  updateMyCover,
  updateMyImage,
  updateRelationship,
} from '@kith/protocol'
import type { TestServer } from '../../../server/test/harness/test-server.ts'
import { startWebServer } from './open-app.ts'
import { picture } from './picture.ts'

export const anna = 'anna.localhost'
export const ben = 'ben.localhost'
export const carla = 'carla.localhost'
export const dora = 'dora.localhost'
export const emil = 'emil.localhost'

/** A server whose base tenant, Anna, is connected with Ben, asked by Carla, and follows Dora. Emil is known to nobody. */
export async function startPeopleTown(): Promise<TestServer> {
  const server = await startWebServer({ baseIdTag: anna })
  const names = {
    [ben]: 'Ben Okafor',
    [carla]: 'Carla Lindqvist',
    [dora]: 'Dora Ayala',
    [emil]: 'Emil Novák',
  }
  for (const [idTag, name] of Object.entries(names)) await server.createTenant(idTag, { name })
  const clients = await Promise.all([anna, ben, carla, dora].map((idTag) => server.as(idTag)))
  const [a, b, c, d] = clients as [Client, Client, Client, Client]
  await a.call(updateMe, { body: { name: 'Anna Berg', x: { bio: 'Gardener and alto.' } } })
  await b.call(updateMe, { body: { x: { bio: 'Bakes for the whole street.\nhttps://example.org' } } })
  await b.upload(updateMyImage, { body: await picture(20, 400, 400) })
  await b.upload(updateMyCover, { body: await picture(200, 1600, 900) })
  await connect(server, a, { idTag: ben, client: b })
  await a.call(updateRelationship, { params: { idTag: dora }, body: { relationship: 'follow' } })
  const message = 'We met at the choir. May I see the photos?'
  await c.call(createAction, { body: { type: 'CONN', audienceTag: anna, content: { message } } })
  await post(b, 'Plum cake on Sunday, who comes?')
  await post(d, 'The library is open again on Saturdays.')
  await server.settle()
  return server
}

export async function connect(
  server: TestServer,
  asking: Client,
  asked: { readonly idTag: string; readonly client: Client },
): Promise<void> {
  const { data } = await asking.call(createAction, { body: { type: 'CONN', audienceTag: asked.idTag } })
  await server.settle()
  await asked.client.call(acceptAction, { params: { actionId: data.actionId } })
  await server.settle()
}

export async function post(client: Client, text: string, audienceTag?: string): Promise<string> {
  const to = audienceTag === undefined ? {} : { audienceTag }
  const { data } = await client.call(createAction, {
    body: { type: 'POST', visibility: 'P', content: { text }, ...to },
  })
  return data.actionId
}

export const garden = 'garden.localhost'

/** A community in this town: Anna leads it, Ben belongs to it and has written to it, Carla asks to join. */
export async function foundGarden(server: TestServer): Promise<void> {
  const [a, b, c] = await Promise.all([server.as(anna), server.as(ben), server.as(carla)])
  const body = { type: 'community', name: 'Garden club', bio: 'We grow things, and share seeds.' } as const
  await a.call(createCommunity, { params: { idTag: garden }, body })
  await connect(server, b, { idTag: garden, client: a.at(garden) })
  const message = 'I have tomato plants to give away.'
  await c.call(createAction, { body: { type: 'CONN', audienceTag: garden, content: { message } } })
  await post(b, 'The water is off on Friday morning.', garden)
  await server.settle()
}
