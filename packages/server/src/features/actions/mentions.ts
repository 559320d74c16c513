import { findMentions, type IdTag } from '@kith/protocol'

// The members of `content` that may mention somebody.
const members = ['title', 'text', 'summary'] as const
// A text with more names is addressed to nobody in particular.
const maxNames = 50

/** Does an action's content mention this identity, as `@` and its idTag? */
export function doesMention(content: Readonly<Record<string, unknown>> | undefined, idTag: IdTag): boolean {
  return members.some((name) => {
    const text = content?.[name]
    return typeof text === 'string' && isNamedIn(text, idTag)
  })
}

function isNamedIn(text: string, idTag: IdTag): boolean {
  let names = 0
  for (const mention of findMentions(text)) {
    if (mention.idTag === idTag) return true
    names += 1
    if (names === maxNames) return false
  }
  return false
}
