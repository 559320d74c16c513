import type { IdTag } from '@kith/protocol'
import { type Circle, countCircle } from '#features/relations/index.ts'
import type { Reader } from '#infra/db/index.ts'

/** Who receives an action: the named identities, and a circle of the tenant. A circle is not listed here, because it
 * may have a million members. */
export interface Audience {
  readonly named: readonly IdTag[]
  readonly circle?: Circle | undefined
}

export const nobody: Audience = { named: [] }

const widths: Readonly<Record<Circle, number>> = { connections: 1, followers: 2, ever: 3 }

/** Both together. The wider of two circles includes the other. */
export function joined(one: Audience, other: Audience): Audience {
  return {
    named: [...new Set([...one.named, ...other.named])],
    circle: wider(one.circle, other.circle),
  }
}

function wider(one: Circle | undefined, other: Circle | undefined): Circle | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return widths[one] > widths[other] ? one : other
}

/** The number of receivers, counted no further than `atMost`. */
export async function countAudience(
  reader: Reader,
  { named, circle }: Audience,
  atMost: number,
): Promise<number> {
  return named.length + (circle ? await countCircle(reader, circle, atMost) : 0)
}
