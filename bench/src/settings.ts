/** How long and how often is measured. */
export interface Settings {
  readonly runs: number
  /** Of one measurement, after a warm-up of a quarter of it. */
  readonly seconds: number
  readonly actions: number
  readonly relations: number
  /** That a post goes to, in `fanOut100k`. */
  readonly servers: number
  /** An empty PostgreSQL database for `fanOut100k`; SQLite when absent. */
  readonly databaseUrl?: string
  /** Where a profile of each server's processor time is written when it ends. */
  readonly profileDir?: string
}
