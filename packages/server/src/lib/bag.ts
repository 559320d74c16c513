/** What can be in one bag at a time. */
export interface BagMember {
  /** Its index while it is in a bag; -1 otherwise. Kept by the bag. */
  bagIndex: number
}

/** Members that come and go for each request, in no order. A `Set` or `Map` would keep the memory of all that were ever in it until
 * the next full collection: each time V8 replaces its table the old one refers to the new one, and the first that has become old keeps
 * alive all that follow. At 4,000 requests a second that was a full collection every few seconds. */
export class Bag<Member extends BagMember> {
  // As long as the most members there were at a time.
  readonly #members: (Member | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  add(member: Member): void {
    if (member.bagIndex !== -1) return
    member.bagIndex = this.#size
    this.#members[this.#size] = member
    this.#size += 1
  }

  delete(member: Member): void {
    const index = member.bagIndex
    if (index === -1) return
    this.#size -= 1
    const last = this.#members[this.#size] as Member
    this.#members[index] = last
    last.bagIndex = index
    this.#members[this.#size] = undefined
    member.bagIndex = -1
  }

  /** Those that are in the bag now, and are not taken out of it meanwhile. */
  *[Symbol.iterator](): Generator<Member> {
    for (const member of this.#members.slice(0, this.#size))
      if (member && member.bagIndex !== -1) yield member
  }
}
