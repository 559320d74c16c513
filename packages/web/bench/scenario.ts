import type { Browser } from 'playwright-core'
import type { BareSite } from './bare-site.ts'
import type { Settings } from './settings.ts'
import type { Town } from './town.ts'

/** What a measurement works with. */
export interface Bench {
  readonly settings: Settings
  readonly browser: Browser
  readonly town: Town
  readonly bare: BareSite
}
