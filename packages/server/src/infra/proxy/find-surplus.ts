/** A request or connection that is passed on. */
export interface PassedOn {
  /** Whose it is: an address, or a network that counts as one. */
  readonly address: string
  /** Higher for each that begins later. */
  readonly number: number
}

/** What has to give way to a newcomer where all places are taken: the oldest of the address that has most, so that a few
 * addresses do not keep the others out. Undefined where none has more than the newcomer would have. */
export function findSurplus<Member extends PassedOn>(
  members: Iterable<Member>,
  newcomer: string,
): Member | undefined {
  const byAddress = new Map<string, Member[]>()
  for (const member of members) {
    const own = byAddress.get(member.address)
    if (own) own.push(member)
    else byAddress.set(member.address, [member])
  }
  let most: readonly Member[] = []
  for (const own of byAddress.values()) if (own.length > most.length) most = own
  const newcomers = (byAddress.get(newcomer)?.length ?? 0) + 1
  if (most.length <= newcomers) return undefined
  return most.reduce((oldest, member) => (member.number < oldest.number ? member : oldest))
}
