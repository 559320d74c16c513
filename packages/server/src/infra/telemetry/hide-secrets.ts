import { LRUCache } from 'lru-cache'

const hidden = '[hidden]'
const maxDepth = 6
const maxItems = 100

// Compared with a member's name in lower case without separators: `accessToken`, `x-qr-secret`, `S3_SECRET`.
const secretName =
  /(?:authorization|cookie|password|passphrase|token|jwt|bearer|secret|secrets|(?:api|private|master|encryption|signing|secret|access|sw)key|refid)$/
const secretNames = new Set(['ref', 'auth', 'pass', 'sealed', 'credentials'])

// Bounded, as a logged object may come from a client, with any names.
const verdicts = new LRUCache<string, boolean>({ max: 1000 })

/** A copy of log details without the values of members whose names promise a secret, at any depth that is printed. */
export function hideSecrets(details: object): Record<string, unknown> {
  return hideMembers(details, 0)
}

function hideMembers(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value).slice(0, maxItems)) {
    const member = (value as Record<string, unknown>)[name]
    const isHidden = typeof member !== 'boolean' && member != null && isSecretName(name)
    copy[name] = isHidden ? hidden : hideValue(member, depth + 1)
  }
  return copy
}

function isSecretName(name: string): boolean {
  const known = verdicts.get(name)
  if (known !== undefined) return known
  const plain = name.toLowerCase().replaceAll(/[-_.]/g, '')
  const verdict = secretNames.has(plain) || secretName.test(plain)
  verdicts.set(name, verdict)
  return verdict
}

function hideValue(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return hideInError(value, depth)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if ('toJSON' in value) return value
  if (depth >= maxDepth) return '[…]'
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => hideValue(item, depth + 1))
  return hideMembers(value, depth)
}

function hideInError(error: Error, depth: number): unknown {
  const { name, message, stack, cause } = error
  if (depth >= maxDepth) return { name, message }
  const rest = hideMembers(error, depth)
  const errors = error instanceof AggregateError ? { errors: hideValue(error.errors, depth + 1) } : {}
  return {
    ...rest,
    name,
    message,
    stack,
    ...errors,
    ...(cause === undefined ? {} : { cause: hideValue(cause, depth + 1) }),
  }
}

// What secrets look like wherever they stand in a line of JSON: in messages, stacks and addresses. Each pattern is
// linear: its repeated part cannot match what follows it.
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic) [A-Za-z0-9._~+/=-]+/gi, `$1 ${hidden}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, hidden],
  [/\b(sk|idp)_[A-Za-z0-9_-]{43}/g, `$1_${hidden}`],
  [/([?&](?:token|api_?key|ref|refid|secret|password|code)=)[^&\s"'\\#<>]+/gi, `$1${hidden}`],
  [/(\/api\/refs\/)[0-9A-Za-z]{24}/g, `$1${hidden}`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'\\/@]*@/gi, `$1${hidden}@`],
  [/-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-"]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/g, hidden],
]

// Most lines hold nothing of the kind: one look tells.
const suspicious = /earer |asic |eyJ|sk_|idp_|[?&]|\/refs\/|:\/\/|PRIVATE KEY/i

/** Takes out of a finished text whatever looks like a token, a key or a password in an address. */
export function scrub(text: string): string {
  if (!suspicious.test(text)) return text
  let clean = text
  for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement)
  return clean
}
