import { findTags, parseTag } from '@kith/protocol'

// More do not describe a subject.
const maxTags = 20

/** The tags that an action is found by: those of its content, then each `#tag` of its text. Case matters. */
export function tagsOf(content: Readonly<Record<string, unknown>> | undefined): string[] {
  if (!content) return []
  const { tags, text } = content
  const listed = (Array.isArray(tags) ? tags : []).map((tag) =>
    typeof tag === 'string' ? parseTag(tag) : undefined,
  )
  const written = typeof text === 'string' ? findTags(text).map(({ tag }) => tag) : []
  return [...new Set([...listed, ...written].filter((tag) => tag !== undefined))].slice(0, maxTags)
}
