// Tags have at most 64 code points, as in `content.tags`, and so at most 128 UTF-16 units. More than 20 tags do not
// describe a subject.
const maxTagLength = 64
const maxTags = 20
const hashTag = /(?:^|[^\p{L}\p{N}_#&/])#([\p{L}\p{N}_]{1,64})(?![\p{L}\p{N}_])/gu

/** The tags that an action is found by: those of its content, then each `#tag` of its text. Case matters. */
export function tagsOf(content: Readonly<Record<string, unknown>> | undefined): string[] {
  if (!content) return []
  const listed = Array.isArray(content.tags) ? content.tags.filter(isTag) : []
  const { text } = content
  const written =
    typeof text === 'string' && text.includes('#')
      ? [...text.matchAll(hashTag)].map(([, tag = '']) => tag)
      : []
  return [...new Set([...listed, ...written])].slice(0, maxTags)
}

function isTag(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 2 * maxTagLength
}
