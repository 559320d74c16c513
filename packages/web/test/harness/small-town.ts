import { type Client, uploadFile } from '@kith/client'
import { acceptAction, createAction, createFile, setReaction, updateMe } from '@kith/protocol'
import type { TestServer, TestServerOptions } from '../../../server/test/harness/test-server.ts'
import { startWebServer } from './open-app.ts'
import { picture } from './picture.ts'

export const anna = 'anna.localhost'
export const ben = 'ben.localhost'
export const carla = 'carla.localhost'
export const dora = 'dora.localhost'

export interface SmallTown {
  readonly server: TestServer
  /** A post of Ben's with pictures, comments and reactions. */
  readonly postId: string
  /** A folder of Anna's with pictures. */
  readonly folderId: string
}

/** A server with three people who know each other, and what they have said, shown and sent: Anna is its base tenant. */
export async function startSmallTown(options: TestServerOptions = {}): Promise<SmallTown> {
  const server = await startWebServer({ ...options, baseIdTag: anna })
  await server.createTenant(ben, { name: 'Ben Okafor' })
  await server.createTenant(carla, { name: 'Carla Lindqvist' })
  const [a, b, c] = [await server.as(anna), await server.as(ben), await server.as(carla)]
  await a.call(updateMe, { body: { name: 'Anna Berg' } })
  await connect(server, { client: a, idTag: anna }, { client: b, idTag: ben })
  await connect(server, { client: a, idTag: anna }, { client: c, idTag: carla })
  await connect(server, { client: b, idTag: ben }, { client: c, idTag: carla })
  const postId = await show([a, b, c])
  await server.settle()
  await answer([a, c], postId)
  await write([a, b, c])
  const folderId = await keepFiles(a)
  await server.settle()
  return { server, postId, folderId }
}

async function connect(
  server: TestServer,
  asking: { readonly client: Client; readonly idTag: string },
  asked: { readonly client: Client; readonly idTag: string },
): Promise<void> {
  const body = { type: 'CONN', audienceTag: asked.idTag } as const
  const { data } = await asking.client.call(createAction, { body })
  await server.settle()
  await asked.client.call(acceptAction, { params: { actionId: data.actionId } })
  await server.settle()
}

async function show([a, b, c]: readonly [Client, Client, Client]): Promise<string> {
  const say = async (client: Client, text: string, attachments: string[] = []) => {
    const alt = Object.fromEntries(attachments.map((fileId) => [fileId, 'A sun over coloured hills']))
    const content = { text, ...(attachments.length > 0 ? { alt } : {}) }
    const { data } = await client.call(createAction, {
      body: { type: 'POST', visibility: 'C', content, attachments },
    })
    return data.actionId
  }
  await say(c, 'The choir meets on Thursday at seven. Bring the new scores, they are in the shared folder.')
  await say(a, 'Garden open on Sunday from two. Cake by Ben. https://example.org/garden #garden')
  const pictures = await Promise.all(
    [20, 140, 260].map(async (hue) => uploadFile(b, await picture(hue), { fileName: `hills-${hue}.jpg` })),
  )
  const postId = await say(
    b,
    'Three evenings in the hills.',
    pictures.map(({ fileId }) => fileId),
  )
  return postId
}

async function answer([a, c]: readonly [Client, Client], parentId: string): Promise<void> {
  const say = (client: Client, text: string) =>
    client.call(createAction, { body: { type: 'CMNT', parentId, content: { text } } })
  await say(c, 'The second one!')
  await say(a, 'Where is this? I would like to go there in spring.')
  await a.call(setReaction, { params: { actionId: parentId }, body: { type: 'LOVE' } })
}

async function write([a, b, c]: readonly [Client, Client, Client]): Promise<void> {
  const say = (client: Client, audienceTag: string, text: string) =>
    client.call(createAction, { body: { type: 'MSG', audienceTag, content: { text } } })
  await say(b, anna, 'Are you coming on Sunday?')
  await say(a, ben, 'Yes, with the children.')
  await say(b, anna, 'Good. I bake the plum cake then.')
  await say(c, anna, 'Could you send me the photos of the rehearsal?')
}

async function keepFiles(a: Client): Promise<string> {
  const { data } = await a.call(createFile, { body: { fileTp: 'FLDR', fileName: 'Summer in the hills' } })
  for (const hue of [0, 40, 80, 200, 240, 300])
    await uploadFile(a, await picture(hue), { fileName: `evening-${hue}.jpg`, parentId: data.fileId })
  await uploadFile(a, await picture(320), { fileName: 'portrait.jpg' })
  await uploadFile(a, new Blob(['Bread, milk, plums'], { type: 'text/plain' }), { fileName: 'shopping.txt' })
  return data.fileId
}
