import { findRelation } from '#features/relations/index.ts'
import { Failure } from '#lib/failure.ts'
import type { HookScene } from './type-hooks.ts'

/** Messages, and comments that come out of nowhere, come from whom the tenant follows or is connected with, unless it takes
 * what strangers say (`privacy.open_messages`). */
export async function assertNoStranger({
  ports,
  tx,
  action,
}: Pick<HookScene, 'ports' | 'tx' | 'action'>): Promise<void> {
  const relation = await findRelation(tx, action.issuerTag)
  const isKnown = relation?.isFollowing === true || relation?.connection === 'connected'
  if (!isKnown && !(await ports.takesOpenMessages(tx))) throw new Failure('E-AUTH-FORBIDDEN')
}
