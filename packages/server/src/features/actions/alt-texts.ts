import { findActionType } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'
import type { ActionBody } from './action.ts'

/** `content.alt` of an action whose type has it: texts by file id. Servers keep content as it is given, so that ids of
 * other files may be among them. */
export function altTextsOf(type: string, content: ActionBody['content']): Readonly<Record<string, unknown>> {
  const known = findActionType(type)?.content?.properties
  const alt = known && Object.hasOwn(known, 'alt') ? content?.alt : undefined
  return typeof alt === 'object' && alt !== null ? (alt as Record<string, unknown>) : {}
}

/** Fails for the text of a file that is not attached. Those that others sent are ignored. */
export function assertAltTexts({ type, content, attachments }: ActionBody): void {
  const attached = new Set<string>(attachments)
  if (Object.keys(altTextsOf(type, content)).every((fileId) => attached.has(fileId))) return
  throw invalid('/content/alt', 'names a file that is not attached')
}
