import { gatewayPath } from '@kith/protocol'

/** Throws a `TypeError` unless this is an http or https URL. */
export function assertBaseUrl(baseUrl: string): void {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    throw new TypeError(`baseUrl must be an http or https URL, and is "${baseUrl}"`)
}

// A longer one ends at once.
const longestTimerMs = 2 ** 31 - 1

/** The options of a connection that are looked at when they are given. */
interface Checked {
  readonly baseUrl: string
  readonly retry?: { readonly firstMs: number; readonly longestMs: number }
}

/** Throws a `TypeError` for a base URL or delays that cannot be. */
export function assertConnection({ baseUrl, retry = { firstMs: 1, longestMs: 1 } }: Checked): void {
  assertBaseUrl(baseUrl)
  const { firstMs, longestMs } = retry
  if (!(firstMs >= 1 && longestMs >= firstMs && longestMs <= longestTimerMs))
    throw new TypeError('retry needs 1 <= firstMs <= longestMs, in ms')
}

/** Throws a `TypeError` for options by which a file cannot be opened. */
export function assertFileOptions({
  fileId,
  timeoutMs = 0,
  ...connection
}: Checked & { readonly fileId: string; readonly timeoutMs?: number }): void {
  assertConnection(connection)
  if (typeof fileId !== 'string' || fileId === '') throw new TypeError('fileId must be the id of a file')
  if (!(timeoutMs >= 0 && (timeoutMs <= longestTimerMs || timeoutMs === Number.POSITIVE_INFINITY)))
    throw new TypeError(
      `timeoutMs must be a number of ms up to ${longestTimerMs}, or Infinity, and is ${timeoutMs}`,
    )
}

/** The base URL for WebSockets, without a slash at its end. */
export function socketUrl(baseUrl: string): string {
  return baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '')
}

/** The path of a file's socket; `at` another identity's host, through the gateway. */
export function fileSocketPath(
  template: string,
  { fileId, at }: { readonly fileId: string; readonly at?: string },
): string {
  const path = at === undefined ? template : gatewayPath(template, encodeURIComponent(at))
  return path.replace('{fileId}', encodeURIComponent(fileId))
}
