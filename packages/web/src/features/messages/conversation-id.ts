/** The id of the conversation of two identities, which every server gives it (docs/protocol/actions.md, Conversations). Of more
 * it is that of no conversation: theirs begin with a message. */
export async function conversationIdOf(identities: readonly string[]): Promise<string> {
  const participants = [...new Set(identities)].sort()
  const text = JSON.stringify(['conversation', null, ...participants])
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)))
  return `c1~${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}
