/** How long and how often is measured. */
export interface Settings {
  readonly runs: number
  /** Of one measurement, after a warm-up of a quarter of it. */
  readonly seconds: number
  readonly actions: number
  readonly relations: number
  /** Where a profile of each server's processor time is written when it ends. */
  readonly profileDir?: string
}
