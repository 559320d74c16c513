import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  actionIdOf,
  decodeCursor,
  encodeBase64Url,
  encodeCursor,
  fileIdOf,
  fileTypeOf,
  parseActionId,
  parseActionToken,
  parseFileId,
  parseIdTag,
  parseRefId,
  parseSignedToken,
  parseVariantId,
} from './index.ts'

interface Named {
  readonly name: string
}
type Texts = readonly (Named & { readonly text: string })[]

function vectors<Content>(path: string): Content {
  return JSON.parse(
    readFileSync(new URL(`../../../vectors/${path}.json`, import.meta.url), 'utf8'),
  ) as Content
}

describe('the vectors of identities', () => {
  const { valid, invalid } = vectors<{
    valid: { input: string; idTag: string }[]
    invalid: { name: string; input: string }[]
  }>('ids/id-tags')

  test.each(valid)('$input is $idTag', ({ input, idTag }) => {
    expect(parseIdTag(input)).toBe(idTag)
    expect(parseIdTag(idTag)).toBe(idTag)
  })

  test.each(invalid)('refuse $name', ({ input }) => {
    expect(parseIdTag(input)).toBeUndefined()
  })
})

describe('the vectors of action ids', () => {
  const { valid, invalid } = vectors<{
    valid: { issuerTag: string; nonce: string; actionId: string }[]
    invalid: Texts
  }>('ids/action-ids')

  test.each(valid)('$actionId follows from $issuerTag and $nonce', async ({ issuerTag, nonce, actionId }) => {
    expect(actionIdOf(await sha256(new TextEncoder().encode(`${issuerTag}\n${nonce}`)))).toBe(actionId)
    expect(parseActionId(actionId)).toBe(actionId)
  })

  test.each(invalid)('refuse $name', ({ text }) => {
    expect(parseActionId(text)).toBeUndefined()
  })
})

describe('the vectors of file ids', () => {
  const { blobs, types, invalid, variants, invalidVariants } = vectors<{
    blobs: { name: string; contentHex: string; salt: string; sha256: string; fileId: string }[]
    types: { type: string; fileId: string }[]
    invalid: Texts
    variants: { variantId: string; fileId: string; variant: string }[]
    invalidVariants: Texts
  }>('ids/file-ids')

  test.each(blobs)('commit to $name', async ({ contentHex, salt, sha256: hash, fileId }) => {
    expect(await sha256(Buffer.from(contentHex, 'hex'))).toBe(hash)
    const committed = ['blob', Buffer.from(salt, 'base64url'), Buffer.from(hash, 'base64url')]
    const id = await sha256(Buffer.concat(committed.map((part) => Buffer.from(part as string))))
    expect(fileIdOf('BLOB', id)).toBe(fileId)
  })

  test.each(types)('$fileId is of type $type', ({ type, fileId: text }) => {
    const fileId = parseFileId(text)
    expect(fileId && fileTypeOf(fileId)).toBe(type)
  })

  test.each(invalid)('refuse $name', ({ text }) => {
    expect(parseFileId(text)).toBeUndefined()
  })

  test.each(variants)('$variantId is $variant', ({ variantId, fileId: text, variant }) => {
    const fileId = parseFileId(text)
    const parsed = parseVariantId(variantId)
    expect(parsed).toEqual({ fileId, variant })
  })

  test.each(invalidVariants)('refuse as a variant $name', ({ text }) => {
    expect(parseVariantId(text)).toBeUndefined()
  })
})

describe('the vectors of reference ids', () => {
  const { valid, invalid } = vectors<{ valid: { refId: string }[]; invalid: Texts }>('ids/reference-ids')

  test.each(valid)('take $refId', ({ refId }) => {
    expect(parseRefId(refId)).toBe(refId)
  })

  test.each(invalid)('refuse $name', ({ text }) => {
    expect(parseRefId(text)).toBeUndefined()
  })
})

describe('the vectors of cursors', () => {
  const { valid, invalid } = vectors<{
    valid: (Named & { sort: string; cursor: string; place: Parameters<typeof encodeCursor>[0] })[]
    invalid: (Named & { sort: string; cursor: string })[]
  }>('cursors/cursors')

  test.each(valid)('take $name', ({ sort, cursor, place }) => {
    expect(decodeCursor(cursor, sort)).toEqual(place)
    expect(decodeCursor(encodeCursor(place), sort)).toEqual(place)
  })

  test.each(invalid)('refuse $name', ({ sort, cursor }) => {
    expect(decodeCursor(cursor, sort)).toBeUndefined()
  })
})

describe('the vectors of tokens', () => {
  type Tokens = { valid: (Named & { token?: string; payload?: object; claims?: object })[] }

  test.each(vectors<Tokens>('tokens/action-tokens').valid.filter(({ token }) => token))(
    'have the form of an action: $name',
    ({ token = '', payload }) => {
      expect(parseActionToken(token)).toMatchObject({ payload })
    },
  )

  test.each([
    ...vectors<Tokens>('tokens/proxy-tokens').valid,
    ...vectors<Tokens>('tokens/logout-tokens').valid,
  ])('have the form of a signed token: $name', ({ token = '', claims }) => {
    expect(parseSignedToken(token, 4096)).toMatchObject({ payload: claims })
  })
})

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
