import { randomInt } from 'node:crypto'

const characters = '0123456789abcdefghijklmnopqrstuvwxyz'

/** `yyyymmdd` (UTC) and four random characters. */
export function newKeyId(nowMs: number): string {
  const day = new Date(nowMs).toISOString().slice(0, 10).replaceAll('-', '')
  const tail = Array.from({ length: 4 }, () => characters[randomInt(characters.length)])
  return day + tail.join('')
}

/** Checked before the database is asked. */
export function isKeyId(text: string): boolean {
  return /^\d{8}[0-9a-z]{4}$/.test(text)
}
