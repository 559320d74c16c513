import type { IdTag } from '@kith/protocol'
import type { Config } from '#infra/config/index.ts'

/** What to say where BASE_ID_TAG names another identity than the one that the server was begun with; undefined where it does not. */
export function describeOtherBase(
  { baseIdTag }: Pick<Config, 'baseIdTag'>,
  stored: IdTag,
): string | undefined {
  if (stored === baseIdTag) return undefined
  return `This server belongs to ${stored}, and BASE_ID_TAG says ${baseIdTag}. It cannot be changed: set BASE_ID_TAG=${stored}, or run kith where the settings of the server are.`
}
