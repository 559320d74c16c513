import { findRelation, setRelation } from '#features/relations/index.ts'
import { invalid } from '#lib/failure.ts'
import { endingSubType } from '../action.ts'
import { type HookScene, otherParty, type TypeHooks } from './type-hooks.ts'

/** The follower relation, on both sides. */
export const fllw: TypeHooks = {
  type: 'FLLW',
  async prepare({ tenant, body }) {
    if (body.audienceTag === tenant.idTag) throw invalid('/audienceTag', 'is yourself')
    return {}
  },
  onCreate: (scene) => setFollow(scene, scene.action.subType !== endingSubType),
  onReceive: (scene) => setFollow(scene, scene.action.subType !== endingSubType),
  async onEnd(scene) {
    if (scene.action.subType !== endingSubType) await setFollow(scene, false)
  },
}

async function setFollow(scene: HookScene, follows: boolean): Promise<void> {
  const { tx, tenant, action, at } = scene
  const other = otherParty(scene)
  if (!other) return
  if (action.issuerTag === tenant.idTag)
    await setRelation(scene.ports, tx, other, { isFollowing: follows, at })
  else
    await setRelation(scene.ports, tx, other, {
      isFollower: follows,
      ...(await memberRole(scene, follows)),
      at,
    })
}

/** In a community, following gives the role follower and ending it takes that role away; higher roles stay. */
async function memberRole({ tx, tenant, action }: HookScene, follows: boolean) {
  if (tenant.type !== 'community') return {}
  const { role = 'public' } = (await findRelation(tx, action.issuerTag)) ?? {}
  if (follows) return role === 'public' ? { role: 'follower' as const } : {}
  return role === 'follower' ? { role: undefined } : {}
}
