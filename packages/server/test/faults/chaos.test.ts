import { expect, test } from 'vitest'
import type { LinkState } from '#harness/cuttable-link.ts'
import { Dice } from '#harness/dice.ts'
import { runsOf } from '#harness/property-runs.ts'
import { skipSuite } from '#harness/skip-suite.ts'
import { testSeed } from '#harness/test-seed.ts'
import { ChaosActs } from './chaos-acts.ts'
import { listDifferences } from './chaos-truth.ts'
import { ChaosWorld } from './chaos-world.ts'

// A seed repeats what is done, but not the instant at which a process is killed, so the same seed can pass once and fail once:
// too unsteady for the gate, so it runs only when TEST_SEED is set.
const isAsked = process.env.TEST_SEED !== undefined
const searches = Array.from({ length: isAsked ? runsOf(1) : 0 }, (_, at) => at)
if (!isAsked) skipSuite('servers that were killed and cut off', 'is a search for faults: set TEST_SEED')
const rounds = 8
const actsPerRound = 9
// A start costs more than all that is done between two.
const mostKills = 2
const linkStates: readonly LinkState[] = ['open', 'open', 'refused', 'unanswered']
// The longest pause of a delivery that has failed for so long is shorter, whatever it was.
const hoursToHeal = 12

test.each(searches)('servers that were killed and cut off agree in the end (search %i)', async (search) => {
  const seed = testSeed() + search
  await using world = await ChaosWorld.open()
  const dice = new Dice(seed)
  const acts = new ChaosActs(world, dice)
  await makeFriends(world, acts)
  let kills = 0
  for (let round = 0; round < rounds; round += 1) {
    const victim = kills < mostKills && dice.isIn(0.4) ? dice.below(world.size) : undefined
    if (victim !== undefined) kills += 1
    await disturb(world, acts, { dice, victim })
  }

  await world.heal()
  await world.signIn()
  let differences = ['nobody has looked']
  for (let hour = 0; hour < hoursToHeal && differences.length > 0; hour += 1) {
    await world.pass(60)
    differences = await listDifferences(world, acts)
  }
  expect(differences, `TEST_SEED=${seed}`).toEqual([])
})

/** A few hold together from the beginning: not everything depends on luck. */
async function makeFriends(world: ChaosWorld, acts: ChaosActs): Promise<void> {
  const [ada, abe, bea, bob, cyd, cal] = world.people
  if (!ada || !abe || !bea || !bob || !cyd || !cal) throw new Error('somebody is missing')
  await Promise.all([
    acts.change(bea, ada, 'follow'),
    acts.change(cyd, ada, 'follow'),
    acts.change(bob, cyd, 'follow'),
    acts.change(abe, bob, 'connect'),
    acts.change(cal, bea, 'connect'),
  ])
  await world.settle()
  await Promise.all([acts.change(bob, abe, 'connect'), acts.change(bea, cal, 'connect')])
  await world.settle()
}

/** People act while links are cut and servers die; those that are down come back sooner or later. */
async function disturb(
  world: ChaosWorld,
  acts: ChaosActs,
  { dice, victim }: { readonly dice: Dice; readonly victim: number | undefined },
): Promise<void> {
  for (let at = 0; at < world.size; at += 1) world.link(at).set(dice.pick(linkStates))
  await Promise.all(world.downs.filter(() => dice.isIn(0.5)).map((at) => world.start(at)))
  const work = Array.from({ length: actsPerRound }, () => acts.act())
  if (victim !== undefined) work.push(killSoon(world, victim, dice.below(25)))
  await Promise.all(work)
  await world.advance(1000 * (1 + dice.below(60)))
}

async function killSoon(world: ChaosWorld, at: number, afterMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  await world.kill(at)
}
