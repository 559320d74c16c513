import { gatewayPath } from '@kith/protocol'

/** Throws a `TypeError` unless this is an http or https URL. */
export function assertBaseUrl(baseUrl: string): void {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    throw new TypeError(`baseUrl must be an http or https URL, and is "${baseUrl}"`)
}

// A longer one ends at once.
const longestTimerMs = 2 ** 31 - 1

/** Throws a `TypeError` unless this says where a file is, and how long its calls wait for a connection. */
export function assertFileOptions({
  baseUrl,
  fileId,
  timeoutMs = 0,
}: {
  readonly baseUrl: string
  readonly fileId: string
  readonly timeoutMs?: number
}): void {
  assertBaseUrl(baseUrl)
  if (typeof fileId !== 'string' || fileId === '') throw new TypeError('fileId must be the id of a file')
  if (!(timeoutMs >= 0 && (timeoutMs <= longestTimerMs || timeoutMs === Number.POSITIVE_INFINITY)))
    throw new TypeError(
      `timeoutMs must be a number of ms up to ${longestTimerMs}, or Infinity, and is ${timeoutMs}`,
    )
}

/** The base URL for WebSockets, without a slash at its end. */
export function socketUrl(baseUrl: string): string {
  assertBaseUrl(baseUrl)
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
