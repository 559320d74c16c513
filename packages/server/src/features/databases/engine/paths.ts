import { rtdbLimits } from '@kith/protocol'
import { RtdbFailure } from './rtdb-failure.ts'

/** A path without leading and trailing slash. */
export interface RtdbPath {
  readonly text: string
  readonly kind: 'document' | 'collection'
  /** What stands before the last segment; empty for a collection at the top. */
  readonly parent: string
  /** The last segment: the id of a document, or the name of a collection. */
  readonly id: string
}

const controlCharacter = /\p{Cc}/u

/** Throws 400 when the text is not a path, or not of the kind that is asked for. */
export function parsePath(text: string, kind: 'document' | 'collection' | 'any'): RtdbPath {
  if (typeof text !== 'string') throw new RtdbFailure(400, 'A path is a text')
  const bare = text.replace(/^\//, '').replace(/\/$/, '')
  // Before it is taken apart: as long as a path can be in UTF-16, with its slashes.
  if (bare.length > rtdbLimits.segments * (2 * rtdbLimits.segmentCharacters + 1)) throw malformed()
  const segments = bare.split('/')
  if (segments.length > rtdbLimits.segments || !segments.every(isSegment)) throw malformed()
  const found = segments.length % 2 === 0 ? 'document' : 'collection'
  if (kind !== 'any' && kind !== found) throw new RtdbFailure(400, `This is not the path of a ${kind}`)
  const cut = bare.lastIndexOf('/')
  return { text: bare, kind: found, parent: bare.slice(0, Math.max(cut, 0)), id: bare.slice(cut + 1) }
}

export function isSegment(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= 2 * rtdbLimits.segmentCharacters &&
    [...text].length <= rtdbLimits.segmentCharacters &&
    !controlCharacter.test(text) &&
    text.isWellFormed()
  )
}

function malformed(): RtdbFailure {
  return new RtdbFailure(
    400,
    `A path has 1 to ${rtdbLimits.segments} segments of 1 to ${rtdbLimits.segmentCharacters} characters, none of them a control character`,
  )
}
