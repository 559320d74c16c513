import { accessLevels, type CommunityRole, type Requirements, roleLevel, scopeAreas } from '@kith/protocol'

// What docs/protocol/credentials.md says of every endpoint and every kind of credential: told a second time, in other words
// than those of the function that decides.

/** What the holder of a credential may do, as words that an endpoint may ask for. */
export interface Holder {
  /** `all`: no scope. */
  readonly grants: 'all' | ReadonlySet<string>
  /** A sign-in of the owner, or minted from one. */
  readonly isPersonal: boolean
  readonly role: CommunityRole | undefined
  readonly isAdmin: boolean
}

/** Every scope of one item, with what it is good for. */
export function scopesOfOneItem(fileId: string): [string, ReadonlySet<string>][] {
  const scopes: [string, ReadonlySet<string>][] = []
  for (const [rank, level] of accessLevels.entries()) {
    const levels = accessLevels.slice(0, rank + 1)
    const everywhere = scopeAreas.flatMap((area) => levels.map((each) => `${each}:${area}`))
    scopes.push([level, new Set(level === 'admin' ? [...everywhere, 'admin'] : everywhere)])
    for (const area of scopeAreas)
      scopes.push([`${level}:${area}`, new Set(levels.map((each) => `${each}:${area}`))])
  }
  scopes.push([`file:${fileId}:read`, new Set(['a file to read'])])
  scopes.push([`file:${fileId}:write`, new Set(['a file to read', 'a file to write'])])
  return scopes
}

/** The rules, told as a table is read: from the left to the right. */
export function refusalOf(
  requirements: Requirements,
  { grants, isPersonal, role, isAdmin }: Holder,
): string | undefined {
  const forbidden = 'E-AUTH-FORBIDDEN'
  const { auth, scope, unscoped, guests } = requirements
  if (auth === 'none') return undefined
  if (auth === 'personal' && !isPersonal) return forbidden
  if (requirements.role === 'SADM' && !isAdmin) return forbidden
  if (requirements.role && requirements.role !== 'SADM' && !(requirements.orAdmin && isAdmin)) {
    if (role === undefined || roleLevel(role) < roleLevel(requirements.role)) return forbidden
  }
  if (grants === 'all') return undefined
  const wanted =
    unscoped === 'strictly' ? 'nothing will do' : unscoped ? 'admin' : (scope ?? 'whatever there is')
  if (wanted === 'whatever there is') return auth === 'personal' ? forbidden : undefined
  if (grants.has(wanted)) return undefined
  const single = /^(read|write):files$/.exec(wanted)?.[1]
  return guests && single !== undefined && grants.has(`a file to ${single}`) ? undefined : forbidden
}
