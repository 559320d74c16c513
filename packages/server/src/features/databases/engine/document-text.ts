import { rtdbLimits } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'
import { type JsonObject, maxDepth } from './values.ts'

/** The text that is kept of a document. Throws 413 when it is too large. */
export function documentText(data: JsonObject): { readonly text: string; readonly size: number } {
  const text = JSON.stringify(data)
  const size = Buffer.byteLength(text)
  if (size > rtdbLimits.documentBytes)
    throw new RtdbFailure(413, `A document has at most ${rtdbLimits.documentBytes} bytes`)
  return { text, size }
}

/** Throws 413 for too many names, and 400 for what no document may hold: JSON has neither infinity, which a large number reads
 * as, nor halves of characters, which databases cannot keep. */
export function assertStorable(data: JsonObject): void {
  const most = rtdbLimits.documentNames
  if (countMembers(data, maxDepth) <= most) return
  const names = new Set<string>()
  collectNames(data, names)
  if (names.size > most)
    throw new RtdbFailure(413, `The members of a document have at most ${most} different names`)
}

function collectNames(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) for (const name of Object.keys(value)) names.add(name)
  for (const member of Object.values(value)) collectNames(member, names)
}

function countMembers(value: unknown, depth: number): number {
  if (typeof value === 'string') assertWellFormed(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new RtdbFailure(400, 'A number is too large')
  if (typeof value !== 'object' || value === null) return 0
  if (depth === 0) throw new RtdbFailure(400, `A document is nested at most ${maxDepth} levels deep`)
  let members = 0
  if (Array.isArray(value)) {
    for (const element of value) members += countMembers(element, depth - 1)
    return members
  }
  for (const name of Object.keys(value)) {
    assertWellFormed(name)
    members += 1 + countMembers((value as JsonObject)[name], depth - 1)
  }
  return members
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new RtdbFailure(400, 'A text has half a character')
}
