import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { invalid } from '#lib/failure.ts'
import { parseManifest } from '../packages/parse-manifest.ts'

const whole = Type.Integer({ minimum: 0 })
const isEntries = Compile(
  Type.Array(
    Type.Tuple([Type.String(), whole, whole, whole, Type.Integer({ minimum: 0, maximum: 1 }), whole]),
  ),
)

/** Fails unless the row of an installed app, as an archive has it, is one that an install could have written. Whether its
 * files lie where it says is found out when they are read. */
export function assertMovedApp({ manifest, entries }: Readonly<Record<string, unknown>>): void {
  if (typeof manifest !== 'string' || !isManifest(manifest))
    throw invalid('/manifest', 'is no manifest of an app')
  if (typeof entries !== 'string' || !isEntries.Check(JSON.parse(entries)))
    throw invalid('/entries', 'are no places of files')
}

function isManifest(text: string): boolean {
  try {
    parseManifest(Buffer.from(text))
    return true
  } catch {
    return false
  }
}
