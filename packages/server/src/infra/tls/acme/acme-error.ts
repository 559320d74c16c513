/** Why a certificate authority did not do what it was asked for. `type` is the last word of the problem's URN (RFC 8555 section
 * 6.7), or one of ours: `unreachable` when there was no answer, `malformedAnswer` when it made no sense, `badCertificate` when
 * what was issued cannot be served. */
export class AcmeError extends Error {
  readonly type: string
  /** Before this moment (Unix milliseconds) the authority does not want to be asked again. */
  readonly retryAtMs: number | undefined

  constructor(
    type: string,
    message: string,
    options: { retryAtMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(printable(message), { cause: options.cause })
    this.name = 'AcmeError'
    this.type = type
    this.retryAtMs = options.retryAtMs
  }
}

const maxMessageChars = 400

/** Another party's words, for logs, terminals and mails. */
function printable(text: string): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, maxMessageChars)
}

const typeForm = /^urn:ietf:params:acme:error:([A-Za-z]{1,40})$/

/** Reads a problem document (RFC 9457). One that only sums others up (RFC 8555 section 6.7.1) is told as the first of them: no
 * order here is for more than one name. */
export function errorOfProblem(problem: unknown, status: number, retryAtMs?: number): AcmeError {
  const { type, detail, subproblems } = membersOf(problem)
  const word = wordOf(type)
  const first = membersOf(Array.isArray(subproblems) ? subproblems[0] : undefined)
  if (word === 'compound' && wordOf(first.type) !== undefined)
    return errorOfProblem({ type: first.type, detail: first.detail ?? detail }, status, retryAtMs)
  const message = typeof detail === 'string' ? detail : `the authority answered ${status}`
  return new AcmeError(word ?? (status >= 500 ? 'serverInternal' : 'refused'), message, { retryAtMs })
}

function wordOf(type: unknown): string | undefined {
  return typeForm.exec(String(type))?.[1]
}

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
