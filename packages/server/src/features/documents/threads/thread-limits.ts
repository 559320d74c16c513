import type { EngineRequest } from './worker-messages.ts'

/** Limits of processor time per request, in milliseconds, and of memory per thread. */
export interface ThreadLimits {
  /** In a shared thread; then the document is moved to the slow one. */
  readonly sharedMs: number
  /** For updates of clients in the slow thread; then they are refused. */
  readonly applyMs: number
  /** For other requests there. */
  readonly openMs: number
  readonly sharedHeapMegabytes: number
  readonly slowHeapMegabytes: number
}

// A document of 64 MiB in small pieces takes some hundred megabytes.
export const defaultLimits: ThreadLimits = {
  sharedMs: 500,
  applyMs: 2000,
  openMs: 20_000,
  sharedHeapMegabytes: 512,
  slowHeapMegabytes: 1536,
}

// Measured of ordinary documents.
const readPerMebibyteMs = 60
/** A document that takes longer for one request, or for all of them lately, is moved to the slow thread. */
const shareMs = 250

const mebibyte = 1024 ** 2

/** The processor time that a document of so many bytes, the request included, may use in a shared thread. */
export function shareOf(bytes: number): number {
  return shareMs + (bytes / mebibyte) * 125
}

/** Whether opening or applying so many bytes is expected to take longer than a shared thread allows. */
export function isSlowToRead(bytes: number, expectedMs = 0): boolean {
  return Math.max(expectedMs, (bytes / mebibyte) * readPerMebibyteMs) > shareMs
}

/** A quarter of what is allowed in the thread for slow documents, which others do not wait for. */
export function sharedLimitMs({ sharedMs }: ThreadLimits, bytes: number): number {
  return sharedMs + (bytes / mebibyte) * 250
}

export function slowLimitMs(limits: ThreadLimits, request: EngineRequest, expectedMs: number): number {
  if (request.kind === 'apply' && !request.isTrusted)
    return limits.applyMs + (bytesOf(request) / mebibyte) * 1000
  return Math.max(limits.openMs, 4 * expectedMs)
}

export function bytesOf(request: EngineRequest): number {
  const pieces = 'updates' in request ? request.updates : 'pieces' in request ? request.pieces : []
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
