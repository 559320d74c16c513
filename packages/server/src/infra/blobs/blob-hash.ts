import type { BlobHash } from './blob-store.ts'

const hashForm = /^[0-9a-f]{64}$/

/** Whether a text from elsewhere (a row, a path) has the form of a blob's name. */
export function isBlobHash(text: string): text is BlobHash {
  return hashForm.test(text)
}
