import { appContentTypePrefix } from './app-file-types.ts'
import type { AppManifest } from './app-manifest.ts'

const mebibyte = 1024 * 1024

/** What a package may be at most (docs/protocol/apps.md, Package). Who packs and who installs hold to the same. */
export const appPackageLimits = {
  bytes: 64 * mebibyte,
  entries: 5_000,
  inflatedBytes: 256 * mebibyte,
  /** Inflated bytes for each stored one, of an entry and of the whole. */
  ratio: 200,
  /** An entry that inflates to no more than this may have any ratio. */
  smallEntryBytes: 64 * 1024,
  /** Of a path, in UTF-8. */
  pathBytes: 512,
  manifestBytes: 64 * 1024,
} as const

/** Where the manifest lies in a package. */
export const appManifestPath = 'app.json'

/** What an app may ask its host for: documents of these kinds, and the bytes of the file that it was opened on. */
export const appCapabilities = ['crdt', 'rtdb', 'files:read'] as const
export type AppCapability = (typeof appCapabilities)[number]

/** Names of apps: one segment of a path, which is neither `.` nor `..`, without control characters. */
export const appNamePattern = '^(?!\\.{1,2}$)[^/\\u0000-\\u001f\\u007f-\\u009f]+$'

// As the API takes it.
const maxContentTypeLength = 127

/** An app whose files could not carry its id is none that can be used. */
export const maxAppIdLength = maxContentTypeLength - appContentTypePrefix.length

/** The content type of the files that an app works on. A shared file keeps it, so that on another server an app of the same id
 * opens the file, whoever has published that app there. */
export function appContentType({ id }: Pick<AppManifest, 'id'>): string {
  return `${appContentTypePrefix}${id}`
}

/** What may be wrong with a package: `details.reason` of the answer, and the sentence that goes with it. */
export const appPackageFaults = {
  'not-a-zip': 'The file is no zip archive.',
  'too-large': 'The package has too many bytes.',
  'too-many-entries': 'The package has too many entries.',
  'inflated-too-large': 'The package inflates to too many bytes.',
  ratio: 'The package is compressed too strongly.',
  'bad-path': 'A path in the package is not allowed.',
  'duplicate-path': 'Two paths in the package are the same, or differ only by case.',
  symlink: 'The package contains something that is neither a file nor a directory.',
  encrypted: 'The package is encrypted.',
  'unknown-method': 'The package is compressed by a method other than deflate.',
  zip64: 'The package is a zip64 archive.',
  damaged: 'The package is damaged or contradicts itself.',
  'nested-archive': 'The package contains another zip archive.',
  'manifest-missing': 'The package has no app.json at its root.',
  'manifest-too-large': 'The app.json is too large.',
  'manifest-not-json': 'The app.json is not JSON as it should be.',
  'manifest-invalid': 'The app.json is not a valid manifest.',
  'manifest-differs':
    'The app.json has another name or version than the offer, or more that it may open or ask for.',
  'entry-missing': 'The entry page of the manifest is not in the package.',
  'icon-missing': 'The icon of the manifest is not in the package.',
  'id-changed': 'The package has another id than the installed app of this name.',
  'asks-more': 'The package asks for more than the installed version, which nobody has agreed to yet.',
} as const
export type AppPackageFault = keyof typeof appPackageFaults

// biome-ignore lint/suspicious/noControlCharactersInRegex: paths with control characters are refused
const notInPaths = /[\\\u0000-\u001f\u007f-\u009f]/
const driveLetter = /^[a-z]:/i

/** May an entry of a package have this path? Relative, with `/` between segments, none of them empty, `.` or `..`;
 * in Unicode's NFC. A directory has no final `/` here. */
export function isAppPath(path: string): boolean {
  if (path === '' || notInPaths.test(path) || driveLetter.test(path)) return false
  if (!path.isWellFormed() || path.normalize('NFC') !== path) return false
  if (new TextEncoder().encode(path).length > appPackageLimits.pathBytes) return false
  return path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}

/** Two paths with the same key cannot be in one package. */
export function appPathKey(path: string): string {
  return path.toUpperCase().toLowerCase().normalize('NFC')
}
