/** What is measured, and how often. */
export interface Settings {
  readonly runs: number
  /** How many posts, photos, files, messages and members there are. */
  readonly items: number
  /** The lists that are scrolled; all when absent. */
  readonly lists: readonly string[] | undefined
  /** How many photos of 3 MB are uploaded. */
  readonly uploads: number
  /** A folder in which the npm package `lighthouse` is installed. */
  readonly lighthouse: string | undefined
}
