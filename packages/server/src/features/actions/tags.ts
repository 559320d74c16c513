// As in `content.tags`: anything longer is no tag. Many tags are no longer a subject but noise.
const maxTagLength = 64
const maxTags = 20
const hashTag = /(?:^|[^\p{L}\p{N}_#&/])#([\p{L}\p{N}_]{1,64})(?![\p{L}\p{N}_])/gu

/** The tags an action can be found by: those of its content, then each `#tag` in its text. Case counts. */
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
