import { notify } from './notices.ts'

/** Puts a text into the clipboard, and says whether the browser let it; so does what it returns. */
export async function copyText(
  text: string,
  said: { readonly copied: string; readonly notCopied: string },
): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    notify(said.notCopied, { kind: 'failed' })
    return false
  }
  notify(said.copied)
  return true
}
