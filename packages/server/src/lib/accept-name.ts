import { isVisibleName, tidyName } from '@kith/protocol'
import { invalid } from './failure.ts'

/** A name as it is kept: composed (NFC), without spaces around it. `E-VALIDATION` at `path` for what is no visible text. */
export function acceptName(name: string, path = '/name', maxLength = 100): string {
  const kept = tidyName(name)
  if (!isVisibleName(kept, maxLength))
    throw invalid(path, `must be visible text of at most ${maxLength} characters`)
  return kept
}
