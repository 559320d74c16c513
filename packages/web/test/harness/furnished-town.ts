import {
  addToCollection,
  createAction,
  createCommunity,
  createFile,
  updateMe,
  updateMyCover,
  updateMyImage,
} from '@kith/protocol'
import { TestClock } from '../../../server/test/harness/test-clock.ts'
import { foundGarden, garden } from './people-town.ts'
import { picture } from './picture.ts'
import { anna, ben, dora, type SmallTown, startSmallTown } from './small-town.ts'

/** A person who has nothing yet, and one whose folder and post have nothing in them. */
export const lone = 'lone.localhost'
export const bare = 'edda.localhost'

export interface FurnishedTown extends SmallTown {
  readonly communityTag: string
  /** What has nothing in it: Edda's post and folder, and a community of Anna's. */
  readonly empty: Pick<SmallTown, 'postId' | 'folderId'> & { readonly communityTag: string }
}

/** The small town by the clock on the wall, where each of Anna's screens has something to show, and each of two others' has not. */
export async function startFurnishedTown(): Promise<FurnishedTown> {
  const town = await startSmallTown({ clock: new TestClock(Date.now()) })
  await furnish(town)
  const empty = await moveIn(town)
  await town.server.settle()
  return { ...town, communityTag: garden, empty }
}

async function furnish({ server, postId }: SmallTown): Promise<void> {
  const [a, b] = await Promise.all([server.as(anna), server.as(ben)])
  await a.call(updateMe, { body: { x: { bio: 'Gardener and alto. Ask me about plums.' } } })
  await b.call(updateMe, { body: { x: { bio: 'Bakes for the whole street.' } } })
  await b.upload(updateMyImage, { body: await picture(20, 400, 400) })
  await b.upload(updateMyCover, { body: await picture(200, 1600, 900) })
  await foundGarden(server)
  await server.createTenant(dora, { name: 'Dora Ayala' })
  const message = 'We met at the choir. May I see the photos?'
  const asks = { type: 'CONN', audienceTag: anna, content: { message } } as const
  await (await server.as(dora)).call(createAction, { body: asks })
  await a.call(addToCollection, { params: { collType: 'BKMK', itemId: postId } })
  const draft = { type: 'POST', draft: true, content: { text: 'On Saturday the garden is' } } as const
  await a.call(createAction, { body: draft })
}

async function moveIn({ server }: SmallTown): Promise<FurnishedTown['empty']> {
  await server.createTenant(lone, { name: 'Lone' })
  await server.createTenant(bare, { name: 'Edda' })
  const [a, e] = await Promise.all([server.as(anna), server.as(bare)])
  const folder = await e.call(createFile, { body: { fileTp: 'FLDR', fileName: 'Empty' } })
  const body = { type: 'POST', visibility: 'C', content: { text: 'Is anybody there?' } } as const
  const post = await e.call(createAction, { body })
  const communityTag = 'readers.localhost'
  const club = { type: 'community', name: 'Readers' } as const
  await a.call(createCommunity, { params: { idTag: communityTag }, body: club })
  return { postId: post.data.actionId, folderId: folder.data.fileId, communityTag }
}
