import { hidden, type Secret } from '#lib/secret.ts'

// The text of what is shorter stands in too many words: what is left of them would be unreadable, and tell it as well.
const shortestPassword = 4
// Servers cut long lines. A word this long that is a part of what they were sent tells some of the password.
const longWord = /([\w+/-]{8,})=*/g

const unshown =
  'the mail server refused; what it said is not shown, as its password is too short to be taken out'

/** The message of a failure without the password of the mail server at `url`: some servers repeat, when they refuse a
 * sign-in, the line that they were sent. */
export function withoutPassword(
  { message, response }: { readonly message: string; readonly response?: unknown },
  url: Secret,
): string {
  const at = URL.parse(url.reveal())
  const password = decoded(at?.password ?? '')
  if (password === '') return message
  // The library keeps what the server said as `response`; other messages are its own, or the system's.
  if (password.length < shortestPassword) return response === undefined ? message : unshown
  const encoded = base64Of(decoded(at?.username ?? ''), password)
  const whole = [...plainOf(password), ...encoded, ...encoded.map(encodeURIComponent)]
  const longestFirst = whole.toSorted((one, other) => other.length - one.length)
  const pattern = new RegExp(`(?:${longestFirst.map(RegExp.escape).join('|')})(?:=|%3D){0,2}`, 'gi')
  const sent = encoded.map((text) => text.toLowerCase())
  return message
    .replaceAll(pattern, hidden)
    .replaceAll(longWord, (all, word: string) =>
      sent.some((text) => text.includes(word.toLowerCase())) ? hidden : all,
    )
}

function plainOf(password: string): string[] {
  // The library reads a reply as Latin-1 when it is not UTF-8 throughout.
  const misread = Buffer.from(password).toString('latin1')
  const asForm = new URLSearchParams([['', password]]).toString().slice(1)
  return [password, misread, encodeURIComponent(password), asForm]
}

/** What PLAIN and LOGIN send, without the padding. */
function base64Of(username: string, password: string): string[] {
  const texts = [password, `\0${username}\0${password}`, `${username}\0${username}\0${password}`]
  return texts.flatMap((text) => {
    const bytes = Buffer.from(text)
    return [bytes.toString('base64').replaceAll('=', ''), bytes.toString('base64url')]
  })
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // As the library takes it.
    return part
  }
}
