import { commonTypeName, type DeclaredType, readDeclaredType } from './declared-type.ts'
import { canBeText } from './text-bytes.ts'

type Library = typeof import('file-type')

/** What is known of some bytes. */
interface SniffedType {
  /** What the bytes are, else what they were declared to be, else `application/octet-stream`. Fit for a header. */
  readonly contentType: string
  /** They were declared a picture and are none. */
  readonly contradictsDeclared: boolean
}

/**
 * Tells a type from the first bytes (some 4 000 are enough) and the declared `Content-Type`. Text has no signature, so
 * HTML, SVG, scripts and plain text are never found in bytes: they are stored as such only when they are declared so.
 */
export async function sniffType(head: Uint8Array, declaredHeader?: string): Promise<SniffedType> {
  const declared = readDeclaredType(declaredHeader)
  // Loaded with the first file.
  const library = await import('file-type')
  const found = await findSignature(library, head)
  return {
    contentType: chooseType(found, declared),
    contradictsDeclared:
      declared !== undefined &&
      contradicts(declared.essence, { found, head, provable: library.supportedMimeTypes }),
  }
}

/** The type of what has no bytes here, or not yet: as declared. Fit for a header. */
export function typeWithoutBytes(declaredHeader: string | undefined): string {
  return chooseType(undefined, readDeclaredType(declaredHeader))
}

async function findSignature({ fileTypeFromBuffer }: Library, head: Uint8Array): Promise<string | undefined> {
  // Bytes cut off in the middle of a structure may make the parser stumble; they have no signature then.
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  const essence = found ? commonTypeName(found.mime.split(';')[0] ?? found.mime) : signatureOf(head)
  if (!essence || isActive(essence)) return undefined
  if (canBeText(head) && !textSignatures.has(essence)) return undefined
  return essence === 'image/heif' && namesAvif(head) ? 'image/avif' : essence
}

// Of TIFF and BigTIFF in both byte orders. The parser reads their directory, which most programs write behind the pixels.
const tiffSignatures = ['49492a00', '4d4d002a', '49492b00', '4d4d002b']

function signatureOf(head: Uint8Array): string | undefined {
  const start = Buffer.from(head.subarray(0, 4)).toString('hex')
  return tiffSignatures.includes(start) ? 'image/tiff' : undefined
}

// Signatures that are text themselves; any other one found in text is a word that happens to look like it.
const textSignatures = new Set([
  'application/pdf',
  'application/postscript',
  'application/eps',
  'application/rtf',
])

/** What a browser would run or read as a document of the site. PDF is shown in a viewer of its own. */
function isActive(essence: string): boolean {
  return /^text\/|[/+]xml$|html|(java|ecma)script|shockwave/.test(essence)
}

/** Some writers of AVIF put the general brand first and their own among the compatible ones. */
function namesAvif(head: Uint8Array): boolean {
  const box = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const brands = box.subarray(8, Math.min(box.readUInt32BE(0), 256)).toString('latin1')
  return (brands.match(/.{4}/gs) ?? []).some((brand) => brand === 'avif' || brand === 'avis')
}

function chooseType(found: string | undefined, declared: DeclaredType | undefined): string {
  if (found) return declared && isMoreExact(declared.essence, found) ? declared.essence : found
  if (!declared) return 'application/octet-stream'
  return declared.charset ? `${declared.essence}; charset=${declared.charset}` : declared.essence
}

// A declared type may be more exact than the signature: an office document is a zip, a raw photo a TIFF.
const moreExact = new Map([
  ['application/zip', /^(application\/(vnd\.[a-z0-9.+-]+|java-archive|[a-z0-9.-]+\+zip)|model\/3mf)$/],
  ['application/gzip', /^application\/(x-gzip|x-tgz|x-gtar|x-compressed-tar|[a-z0-9.-]+\+gzip)$/],
  ['application/x-cfb', /^application\/(msword|x-msi|vnd\.(ms-|visio)[a-z0-9.+-]*)$/],
  ['application/ogg', /^(audio|video)\/ogg$/],
  ['audio/ogg', /^audio\/opus$/],
  ['video/webm', /^audio\/webm$/],
  ['video/matroska', /^(audio|video)\/x-matroska(-3d)?$/],
  ['video/mp4', /^(audio\/(mp4|x-m4a)|video\/x-m4v)$/],
  ['image/tiff', /^image\/(dng|x-[a-z]+-[a-z0-9]+)$/],
])

const isMoreExact = (declared: string, found: string) => moreExact.get(found)?.test(declared) === true

function contradicts(
  declared: string,
  { found, head, provable }: { found: string | undefined; head: Uint8Array; provable: ReadonlySet<string> },
): boolean {
  if (!declared.startsWith('image/')) return false
  // Another kind of picture is stored as what it is: its name was wrong, which harms nobody.
  if (found !== undefined) return !found.startsWith('image/')
  // Without a signature only those are proven wrong that must have one.
  return declared === 'image/svg+xml' ? !canBeText(head) : provable.has(declared)
}
