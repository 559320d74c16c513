import { randomInt } from 'node:crypto'

/** Before a run: `TEST_SEED=random` stands for a number that is drawn, and printed to be repeated. */
export function drawSeed(): void {
  if (process.env.TEST_SEED !== 'random') return
  process.env.TEST_SEED = String(randomInt(2 ** 31))
  console.log(`TEST_SEED=${process.env.TEST_SEED}`)
}
