/** Identifiers of the protocol: one branded type and one parser each. A parser answers `undefined` for anything
 * that does not match the form, so that malformed text never travels further than the edge. */

declare const brand: unique symbol
type Brand<Text extends string, Name extends string> = Text & { readonly [brand]: Name }

/** A tenant's identity: a lower-case DNS name in A-label form with at least two labels. */
export type IdTag = Brand<string, 'IdTag'>
/** `b1~`, `f1~`, `r1~` or `d1~` and 43 base64url characters. */
export type FileId = Brand<string, 'FileId'>
/** `{fileId}~{tn, ic, sd, hd, orig}`. */
export type VariantId = Brand<string, 'VariantId'>
/** `a1~` and 43 base64url characters. */
export type ActionId = Brand<string, 'ActionId'>
/** 24 characters `[0-9A-Za-z]`; knowing one is a right, so it comes from a CSPRNG. */
export type RefId = Brand<string, 'RefId'>

export const fileTypes = ['BLOB', 'CRDT', 'RTDB', 'FLDR'] as const
export type FileType = (typeof fileTypes)[number]

export const variantNames = ['tn', 'ic', 'sd', 'hd', 'orig'] as const
export type VariantName = (typeof variantNames)[number]

const filePrefixes: Record<FileType, string> = { BLOB: 'b1~', CRDT: 'f1~', RTDB: 'r1~', FLDR: 'd1~' }

// The last character of 32 bytes in base64url carries four bits only: other spellings would alias the same hash.
const hash43 = '[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]'
const fileIdForm = new RegExp(`^[bfrd]1~${hash43}$`)
const actionIdForm = new RegExp(`^a1~${hash43}$`)
const refIdForm = /^[0-9A-Za-z]{24}$/
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const idTagForm = new RegExp(`^${label}(?:\\.${label})+$`)
// The WHATWG URL parser reads a host whose last label is a number as an IPv4 address.
const numericLastLabel = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/
const notInHost = /[\s/?#@:%\\[\]<>^|\p{Cc}]/u

// Every runtime this package supports has `URL`; naming just the part used keeps DOM and Node types out.
declare const URL: new (input: string) => { readonly hostname: string }

function toALabels(input: string): string {
  try {
    return new URL(`http://${input}`).hostname
  } catch {
    return ''
  }
}

/** Parses and normalizes an identity: capitals and U-labels are converted, anything else malformed is refused. */
export function parseIdTag(input: string): IdTag | undefined {
  if (input.length > 1024 || notInHost.test(input)) return undefined
  const lower = input.toLowerCase()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "not ASCII", controls are refused above
  const ascii = /[^\x00-\x7f]/.test(lower) || lower.includes('xn--') ? toALabels(lower) : lower
  if (ascii.length < 3 || ascii.length > 253) return undefined
  return idTagForm.test(ascii) && !numericLastLabel.test(ascii) ? (ascii as IdTag) : undefined
}

export function parseFileId(input: string): FileId | undefined {
  return fileIdForm.test(input) ? (input as FileId) : undefined
}

export function parseActionId(input: string): ActionId | undefined {
  return actionIdForm.test(input) ? (input as ActionId) : undefined
}

export function parseRefId(input: string): RefId | undefined {
  return refIdForm.test(input) ? (input as RefId) : undefined
}

export function parseVariantId(input: string): { fileId: FileId; variant: VariantName } | undefined {
  const cut = input.lastIndexOf('~')
  const fileId = parseFileId(input.slice(0, Math.max(cut, 0)))
  const variant = variantNames.find((name) => name === input.slice(cut + 1))
  return fileId && variant ? { fileId, variant } : undefined
}

/** Builds a file id from the type and the 43 characters of its hash or random bytes. */
export function fileIdOf(type: FileType, hash: string): FileId {
  const id = parseFileId(filePrefixes[type] + hash)
  if (!id) throw new TypeError('a file id needs the base64url text of 32 bytes')
  return id
}

export function actionIdOf(hash: string): ActionId {
  const id = parseActionId(`a1~${hash}`)
  if (!id) throw new TypeError('an action id needs the base64url text of 32 bytes')
  return id
}

/** The file type that an id's prefix names. */
export function fileTypeOf(fileId: FileId): FileType {
  return fileTypes.find((type) => fileId.startsWith(filePrefixes[type])) ?? 'BLOB'
}
