import type { Client } from '@kith/client'
import {
  type Action,
  type ActionId,
  listActions,
  listDeliveries,
  listProfiles,
  type Profile,
} from '@kith/protocol'
import type { Change, ChaosAct, ChaosActs } from './chaos-acts.ts'
import type { ChaosTenant, ChaosWorld } from './chaos-world.ts'

/** What somebody has at home, and whom they have to do with. */
interface Home {
  readonly actions: ReadonlyMap<string, Action>
  readonly profiles: ReadonlyMap<string, Profile>
  /** What somebody without a name is shown there. */
  readonly forGuests: readonly Action[]
}

/** What is not as it has to be once everything is well again, each as a sentence. */
export async function listDifferences(world: ChaosWorld, acts: ChaosActs): Promise<string[]> {
  const homes = new Map<ChaosTenant, Home>()
  for (const person of world.people) homes.set(person, await readHome(world, person))
  const truth = new Truth(acts, homes)
  const differences = [
    ...acts.deeds.flatMap((deed) => truth.lost(deed)),
    ...world.people.flatMap((person) => [...truth.leaks(person), ...truth.foreign(person)]),
    ...pairsOf(world.people).flatMap(([one, other]) => [
      ...truth.relations(one, other),
      ...truth.replicas(one, other),
      ...truth.reactions(one, other),
    ]),
  ]
  for (const deed of acts.deeds) differences.push(...(await undelivered(world, truth, deed)))
  return differences
}

async function readHome(world: ChaosWorld, person: ChaosTenant): Promise<Home> {
  const [client, guest] = [world.clientOf(person), world.guestOf(person)]
  if (!client || !guest) throw new Error('a server is down')
  const profiles = (await client.call(listProfiles, { query: { limit: 200 } })).data
  return {
    actions: new Map((await listAll(client)).map((action) => [action.actionId, action])),
    profiles: new Map(profiles.map((profile) => [profile.idTag, profile])),
    forGuests: await listAll(guest),
  }
}

async function listAll(client: Client): Promise<Action[]> {
  const all: Action[] = []
  for await (const page of client.pages(listActions, { query: { limit: 200 } })) all.push(...page)
  return all
}

/** Whoever a delivery was acknowledged for has what is still there, if nobody blocks anybody, nor left meanwhile. */
async function undelivered(world: ChaosWorld, truth: Truth, deed: ChaosAct): Promise<string[]> {
  const { by, actionId } = deed
  if (actionId === undefined || !truth.isLive(deed)) return []
  const client = world.clientOf(by)
  const deliveries = await client?.call(listDeliveries, { params: { actionId: actionId as ActionId } })
  const open = (deliveries?.data ?? []).filter(({ state }) => state === 'queued' || state === 'retrying')
  const named = new Set(
    (deliveries?.data ?? []).flatMap(({ state, recipients }) => (state === 'delivered' ? recipients : [])),
  )
  const receivers = world.people.filter(
    (person) => named.has(person.idTag) && !truth.isKeptFrom(person, deed),
  )
  const without = receivers.filter((person) => truth.awaits(person, deed) && !truth.has(person, deed))
  return [
    ...open.map(({ server, lastError }) => `${deed.text} is not at ${server} yet: ${lastError}`),
    ...without.map(({ idTag }) => `${deed.text} was delivered and ${idTag} does not have it`),
    ...receivers.flatMap((person) => truth.counts(person, deed)),
  ]
}

function pairsOf(people: readonly ChaosTenant[]): [ChaosTenant, ChaosTenant][] {
  return people.flatMap((one) =>
    people.filter((other) => other !== one).map((other): [ChaosTenant, ChaosTenant] => [one, other]),
  )
}

/** What everybody has, beside what everybody did. */
class Truth {
  readonly #acts: ChaosActs
  readonly #homes: ReadonlyMap<ChaosTenant, Home>
  readonly #byText: ReadonlyMap<unknown, ChaosAct>

  constructor(acts: ChaosActs, homes: ReadonlyMap<ChaosTenant, Home>) {
    this.#acts = acts
    this.#homes = homes
    this.#byText = new Map(acts.deeds.map((deed) => [deed.text, deed]))
  }

  isLive(deed: ChaosAct): boolean {
    return this.has(deed.by, deed)
  }

  has(person: ChaosTenant, { actionId }: ChaosAct): boolean {
    return actionId !== undefined && this.#home(person).actions.has(actionId)
  }

  isKeptFrom(person: ChaosTenant, { by, root }: ChaosAct): boolean {
    return this.hasBlock(by, person) || (root !== undefined && this.hasBlock(root.by, person))
  }

  /** Is it for somebody who has not turned away since? */
  awaits(person: ChaosTenant, deed: ChaosAct): boolean {
    const { root } = deed
    if (!root) return this.#mustHave(person, deed)
    return this.isLive(root) && (person === root.by || this.#mustHave(person, root))
  }

  hasBlock(one: ChaosTenant, other: ChaosTenant): boolean {
    return this.#changes(one, other, 'block').length + this.#changes(other, one, 'block').length > 0
  }

  /** What was acknowledged is there, and what was deleted is not. */
  lost(deed: ChaosAct): string[] {
    if (deed.fate !== 'done') return []
    const isKept = deed.deletion === undefined || deed.deletion === 'refused'
    if (isKept && !this.isLive(deed)) return [`${deed.text} of ${deed.by.idTag} is lost`]
    if (deed.deletion === 'done' && this.isLive(deed)) return [`${deed.text} of ${deed.by.idTag} came back`]
    return []
  }

  /** What somebody has and may not have, and what guests are shown there. */
  leaks(person: ChaosTenant): string[] {
    const { actions, forGuests } = this.#home(person)
    const shown = [...actions.values()].map(({ content }) => this.#byText.get(content?.text))
    const forbidden = shown.filter((deed) => deed && !this.#mayHave(person, deed))
    const secrets = forGuests.filter(({ visibility, content }) => {
      const deed = this.#byText.get(content?.text)
      return visibility !== 'P' || (deed && (deed.root ?? deed).visibility !== 'P')
    })
    return [
      ...forbidden.map((deed) => `${deed?.text} of ${deed?.by.idTag} is shown to ${person.idTag}`),
      ...secrets.map(({ type, content }) => `${type} ${content?.text} is shown to guests of ${person.idTag}`),
    ]
  }

  /** What nobody did. */
  foreign(person: ChaosTenant): string[] {
    return [...this.#home(person).actions.values()].flatMap(({ type, content, actionId }) =>
      (type === 'POST' || type === 'CMNT') && !this.#byText.has(content?.text)
        ? [`${person.idTag} has ${actionId}, which nobody made`]
        : [],
    )
  }

  /** Both sides say the same, and what the last acknowledged change said. */
  relations(one: ChaosTenant, other: ChaosTenant): string[] {
    if (this.hasBlock(one, other)) return []
    const [mine, theirs] = [
      this.#home(one).profiles.get(other.idTag),
      this.#home(other).profiles.get(one.idTag),
    ]
    const told = `${one.idTag} and ${other.idTag}`
    const follows = this.#changes(one, other, 'follow', 'unfollow').filter(({ fate }) => fate !== 'refused')
    const last = follows.every(({ fate }) => fate === 'done') ? latest(follows) : undefined
    const isFollowing = mine?.following ?? false
    const [here, there] = [mine?.connected ?? 'disconnected', theirs?.connected ?? 'disconnected']
    return [
      ...(isFollowing === (theirs?.follower ?? false) ? [] : [`${told} do not agree on who follows`]),
      ...(last && isFollowing !== (last.change === 'follow')
        ? [`${told}: ${last.change} was forgotten`]
        : []),
      ...(here === there ? [] : [`${told} do not agree on being connected: ${here}, ${there}`]),
    ]
  }

  /** What `reader` has of what `by` published is the same, all of it, and nothing that was deleted. */
  replicas(by: ChaosTenant, reader: ChaosTenant): string[] {
    if (this.hasBlock(by, reader)) return []
    return this.#acts.deeds
      .filter((deed) => deed.by === by && deed.actionId !== undefined)
      .flatMap((deed) => {
        const [own, replica] = [this.#find(by, deed), this.#find(reader, deed)]
        const told = `${deed.text} of ${by.idTag} at ${reader.idTag}`
        if (!own) return replica ? [`${told} was not deleted`] : []
        if (!replica) return this.#mustHave(reader, deed) ? [`${told} is missing`] : []
        return own.content?.text === replica.content?.text ? [] : [`${told} has another text`]
      })
  }

  /** The issuer's server is the authority for what is counted. It tells those who were there all the time; the others know
   * what was counted when they came. */
  counts(reader: ChaosTenant, deed: ChaosAct): string[] {
    const [own, replica] = [this.#find(deed.by, deed), this.#find(reader, deed)]
    const partings = [reader, deed.by].flatMap((one) =>
      this.#changes(one, one === reader ? deed.by : reader, 'disconnect'),
    )
    if (!own || !replica || partings.length > 0 || !this.#mustHave(reader, deed)) return []
    return (['reactions', 'comments'] as const).flatMap((name) => {
      const [there, here] = [own.stat[name] ?? 0, replica.stat[name] ?? 0]
      const told = `${deed.text} of ${deed.by.idTag} at ${reader.idTag}`
      return here === there ? [] : [`${told} has ${here} ${name}, where its issuer counts ${there}`]
    })
  }

  /** The reactions that `by` sees as theirs are those that the issuer has; whoever may no longer read what they once
   * received reacts to it in vain. */
  reactions(by: ChaosTenant, issuer: ChaosTenant): string[] {
    if (this.hasBlock(by, issuer)) return []
    const kept = [...this.#home(issuer).actions.values()].filter(
      ({ type, issuerTag }) => type === 'REACT' && issuerTag === by.idTag,
    )
    return this.#acts.deeds.flatMap((deed) => {
      const mine = deed.by === issuer && this.isLive(deed) ? this.#find(by, deed) : undefined
      const isForCircle = deed.visibility === 'F' || deed.visibility === 'C'
      if (!mine || (isForCircle && !this.#mustHave(by, deed))) return []
      const there = kept.find(({ subject }) => subject === deed.actionId)?.subType ?? null
      const here = mine.stat.ownReaction ?? null
      return here === there ? [] : [`${by.idTag} reacted ${here} to ${deed.text}; its issuer knows ${there}`]
    })
  }

  #mayHave(person: ChaosTenant, deed: ChaosAct): boolean {
    const root = deed.root ?? deed
    // Whose thread it is decides for everybody: after a block the others no longer hear what is said.
    const isSilenced = deed.root && this.#isDone(root.by, deed.by, 'block', deed.startedAt)
    if (isSilenced && person !== deed.by) return false
    if (person === deed.by || person === root.by || root.visibility === 'P') return true
    if (this.#isDone(person, deed.by, 'block', Number.POSITIVE_INFINITY)) return false
    // On another server the issuer's block is not known, and what goes there to somebody else is shown to its followers.
    const isSuspendedOrBanned =
      deed.by.at === person.at && this.#isDone(deed.by, person, 'block', deed.startedAt)
    if (isSuspendedOrBanned && !deed.root) return false
    if (root.visibility === 'V' || root.audienceTag === person.idTag) return true
    const asked = this.#changes(person, root.by, 'connect').length > 0
    const isConnected = asked && this.#changes(root.by, person, 'connect').length > 0
    if (root.visibility === 'C') return isConnected
    return root.visibility === 'F' && (isConnected || this.#changes(person, root.by, 'follow').length > 0)
  }

  /** Does it go to somebody who has followed or been connected ever since? */
  #mustHave(reader: ChaosTenant, { root, visibility, audienceTag, by }: ChaosAct): boolean {
    if (root) return false
    if (visibility === null) return audienceTag === reader.idTag
    const profile = this.#home(reader).profiles.get(by.idTag)
    const changes = [...this.#changes(reader, by), ...this.#changes(by, reader)].map(({ change }) => change)
    const isConnected = profile?.connected === 'connected' && !changes.includes('disconnect')
    const isFollowing = profile?.following === true && !changes.includes('unfollow')
    return isConnected || (visibility !== 'C' && isFollowing)
  }

  #isDone(by: ChaosTenant, about: ChaosTenant, change: Change['change'], before: number): boolean {
    return this.#changes(by, about, change).some(({ fate, endedAt }) => fate === 'done' && endedAt < before)
  }

  #changes(by: ChaosTenant, about: ChaosTenant, ...kinds: Change['change'][]): Change[] {
    return this.#acts.changes.filter(
      (made) => made.by === by && made.about === about && (kinds.length === 0 || kinds.includes(made.change)),
    )
  }

  #find(person: ChaosTenant, { actionId }: ChaosAct): Action | undefined {
    return this.#home(person).actions.get(actionId ?? '')
  }

  #home(person: ChaosTenant): Home {
    const home = this.#homes.get(person)
    if (!home) throw new Error(`${person.idTag} was not asked`)
    return home
  }
}

function latest(changes: readonly Change[]): Change | undefined {
  return changes.toSorted((one, other) => one.endedAt - other.endedAt).at(-1)
}
