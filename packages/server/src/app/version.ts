import packageJson from '../../package.json' with { type: 'json' }
import { findCommit } from './find-commit.ts'

/** The version of the program, as `serverInfo` and `User-Agent` tell it. */
export const version: string = packageJson.version

export const commit: string | undefined = findCommit()

/** As people compare commits. */
export function shortCommit(whole = 'unknown'): string {
  return whole.slice(0, 12)
}
