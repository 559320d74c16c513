import { hash } from 'node:crypto'

export function etagOf(content: string | Uint8Array): string {
  return `"${hash('sha256', content, 'base64url').slice(0, 22)}"`
}
