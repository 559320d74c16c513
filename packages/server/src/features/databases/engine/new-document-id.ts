import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 24

/** 24 characters `[0-9A-Za-z]`, each as likely as the others. */
export function newDocumentId(): string {
  let id = ''
  while (id.length < idLength)
    // Beyond is no whole number of alphabets.
    for (const byte of randomBytes(2 * idLength))
      if (byte < 4 * alphabet.length && id.length < idLength) id += alphabet[byte % alphabet.length]
  return id
}
