import { rtdbLimits } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { type JsonObject, maxDepth } from './values.ts'

/** The text that is kept of a document. Throws 413 when it is too large, 400 for what no document may hold. */
export function documentText(data: JsonObject): { readonly text: string; readonly size: number } {
  assertStorable(data, maxDepth)
  const text = JSON.stringify(data)
  const size = Buffer.byteLength(text)
  if (size > rtdbLimits.documentBytes)
    throw new RtdbFailure(413, `A document has at most ${rtdbLimits.documentBytes} bytes`)
  return { text, size }
}

/** NOTE: JSON has neither infinity, which a large number reads as, nor halves of characters, which databases cannot keep. */
function assertStorable(value: unknown, depth: number): void {
  if (typeof value === 'string') assertWellFormed(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new RtdbFailure(400, 'A number is too large')
  if (typeof value !== 'object' || value === null) return
  if (depth === 0) throw new RtdbFailure(400, `A document is nested at most ${maxDepth} levels deep`)
  if (Array.isArray(value)) {
    for (const element of value) assertStorable(element, depth - 1)
    return
  }
  for (const name of Object.keys(value)) {
    assertWellFormed(name)
    assertStorable((value as JsonObject)[name], depth - 1)
  }
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new RtdbFailure(400, 'A text has half a character')
}
