import { type Client, KithError } from '@kith/client'
import {
  type ActionId,
  createAction,
  deleteAction,
  type IdTag,
  type RelationshipChange,
  setReaction,
  updateRelationship,
  type Visibility,
} from '@kith/protocol'
import type { Dice } from '#harness/dice.ts'
import type { ChaosTenant, ChaosWorld } from './chaos-world.ts'

/** What became of a request: `unknown` when the server died before it answered. */
export type ActOutcome = 'done' | 'refused' | 'unknown'

/** A post or a comment that somebody tried to publish. */
export interface ChaosAct {
  /** Names it, also where its id was never told. */
  readonly text: string
  readonly by: ChaosTenant
  readonly visibility: Visibility
  readonly audienceTag: string | undefined
  /** The post under which it is a comment. */
  readonly root: ChaosAct | undefined
  readonly startedAt: number
  actionId: string | undefined
  fate: ActOutcome | undefined
  deletion: ActOutcome | undefined
}

/** Something that one did about another. */
export interface Change {
  readonly by: ChaosTenant
  readonly about: ChaosTenant
  readonly change: RelationshipChange
  endedAt: number
  fate: ActOutcome | undefined
}

const visibilities: readonly Visibility[] = ['P', 'V', 'F', 'F', 'C', null]
const changes: readonly RelationshipChange[] = ['follow', 'follow', 'connect', 'connect']
const kinds = ['LIKE', 'LOVE', null] as const

/** What people do, at random, and what they were told about it. */
export class ChaosActs {
  readonly deeds: ChaosAct[] = []
  readonly changes: Change[] = []
  readonly #world: ChaosWorld
  readonly #dice: Dice
  #turn = 0

  constructor(world: ChaosWorld, dice: Dice) {
    this.#world = world
    this.#dice = dice
  }

  /** What is drawn before the first `await`, so that the dice fall in the same order with the same seed. */
  act(): Promise<void> {
    const dice = this.#dice
    const by = dice.pick(this.#world.people)
    const chance = dice.roll()
    const posts = this.deeds.filter(({ root, actionId }) => !root && actionId !== undefined)
    if (chance < 0.3 || posts.length === 0) return this.#publish(by, undefined)
    if (chance < 0.42) return this.#publish(by, dice.pick(posts))
    if (chance < 0.57) return this.#react(by, dice.pick(posts), dice.pick(kinds))
    if (chance < 0.67) return this.#delete(dice.pick(this.deeds))
    const change = dice.roll()
    const rare =
      change < 0.08 ? 'block' : change < 0.16 ? 'unfollow' : change < 0.22 ? 'disconnect' : undefined
    return this.change(by, this.#other(by), rare ?? dice.pick(changes))
  }

  /** Makes something hold between two, or end. */
  async change(by: ChaosTenant, about: ChaosTenant, change: RelationshipChange): Promise<void> {
    const made: Change = { by, about, change, endedAt: Number.POSITIVE_INFINITY, fate: undefined }
    this.changes.push(made)
    made.fate = await this.#ask(by, async (client) => {
      await client.call(updateRelationship, {
        params: { idTag: about.idTag as IdTag },
        body: { relationship: change },
      })
    })
    this.#turn += 1
    made.endedAt = this.#turn
  }

  async #publish(by: ChaosTenant, root: ChaosAct | undefined): Promise<void> {
    const visibility = root ? root.visibility : this.#dice.pick(visibilities)
    const audienceTag = !root && visibility === null ? this.#other(by).idTag : undefined
    this.#turn += 1
    const deed: ChaosAct = {
      ...{ text: `${root ? 'comment' : 'post'} ${this.deeds.length}`, by, visibility, audienceTag, root },
      ...{ startedAt: this.#turn, actionId: undefined, fate: undefined, deletion: undefined },
    }
    this.deeds.push(deed)
    const content = { text: deed.text }
    const body = root
      ? { type: 'CMNT' as const, content, parentId: root.actionId ?? '' }
      : { type: 'POST' as const, content, visibility, ...(audienceTag === undefined ? {} : { audienceTag }) }
    deed.fate = await this.#ask(by, async (client) => {
      deed.actionId = (await client.call(createAction, { body })).data.actionId
    })
  }

  async #react(by: ChaosTenant, post: ChaosAct, type: (typeof kinds)[number]): Promise<void> {
    const params = { actionId: post.actionId as ActionId }
    await this.#ask(by, (client) => client.call(setReaction, { params, body: { type } }))
  }

  async #delete(deed: ChaosAct): Promise<void> {
    const { actionId, by } = deed
    if (actionId === undefined) return
    const params = { actionId: actionId as ActionId }
    const fate = await this.#ask(by, (client) => client.call(deleteAction, { params }))
    if (fate === 'done' || deed.deletion === undefined || deed.deletion === 'refused') deed.deletion = fate
  }

  async #ask(by: ChaosTenant, request: (client: Client) => Promise<unknown>): Promise<ActOutcome> {
    const client = this.#world.clientOf(by)
    if (!client) return 'refused'
    try {
      await request(client)
      return 'done'
    } catch (error) {
      if (!(error instanceof KithError)) return 'unknown'
      // A server that is cut off may say that it cannot ask another; anything else of this kind is a bug.
      if (error.status === 500) throw error
      return 'refused'
    }
  }

  #other(than: ChaosTenant): ChaosTenant {
    return this.#dice.pick(this.#world.people.filter((person) => person !== than))
  }
}
