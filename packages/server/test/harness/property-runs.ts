// How many times the usual.
const rounds = Number(process.env.ROUNDS ?? 1)

/** How often to try a property, or to repeat a fault, that a run of tests tries `usual` times: as often, or `ROUNDS` times that. */
export function runsOf(usual: number): number {
  return Math.ceil(usual * rounds)
}
