import {
  type FileId,
  parseWorldTime,
  type UploadPreset,
  uploadPresets,
  type Visibility,
  visibilityCodes,
} from '@kith/protocol'
import { invalid } from '#lib/failure.ts'
import { acceptFileName, normalTags } from '../file.ts'
import { parentFolder } from '../folders/parent-folder.ts'
import { replacedFile } from './place-upload.ts'

/** What an upload says of the file that it is to become. */
export interface Described {
  readonly fileName: string
  readonly declaredType: string
  readonly preset: UploadPreset
  readonly parentId: FileId | undefined
  readonly tags: readonly string[]
  readonly visibility: Visibility
  /** The file whose place it takes. */
  readonly replaces: FileId | undefined
  /** Unix seconds. */
  readonly createdAt: number | undefined
}

/** How requests call it. */
export const metadataPath = '/headers/upload-metadata'

// Of what is only bytes to whoever sends it.
const defaultName = 'upload'

/** Reads `Upload-Metadata` (tus 1.0 "Creation"). What it does not know it leaves alone. */
export function parseUploadMetadata(text: string): Described {
  const values = valuesOf(text)
  const fileName = acceptFileName(values.get('filename') ?? defaultName, metadataPath)
  const tags = (values.get('tags') ?? '').split(',').filter((word) => word.trim() !== '')
  return {
    fileName,
    declaredType: values.get('filetype') || 'application/octet-stream',
    preset: wordOf(uploadPresets, 'preset', values.get('preset')) ?? 'default',
    parentId: parentFolder(values.get('parentId')),
    tags: normalTags(tags, metadataPath),
    visibility: wordOf(visibilityCodes, 'visibility', values.get('visibility')) ?? null,
    replaces: replacedFile(values.get('replaces')),
    createdAt: timeOf(values.get('createdAt') ?? values.get('created_at')),
  }
}

const base64Form = /^(?:[\w+/]{4})*(?:[\w+/]{2}(?:==)?|[\w+/]{3}=?)?$/

function valuesOf(text: string): Map<string, string> {
  const values = new Map<string, string>()
  if (text.trim() === '') return values
  for (const pair of text.split(',')) {
    const [name = '', encoded = '', ...more] = pair.trim().split(' ')
    if (name === '' || more.length > 0 || !base64Form.test(encoded))
      throw invalid(metadataPath, 'must be a comma list of names with base64 values')
    if (values.has(name)) throw invalid(metadataPath, 'gives a name more than once')
    values.set(name, textOf(Buffer.from(encoded, 'base64')))
  }
  return values
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalid(metadataPath, 'has a value that is not UTF-8')
  }
}

function wordOf<Word extends string>(words: readonly Word[], name: string, given: string | undefined) {
  if (given === undefined) return undefined
  const word = words.find((each) => each === given)
  if (!word) throw invalid(metadataPath, `${name} must be one of ${words.join(', ')}`)
  return word
}

function timeOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const time = parseWorldTime(given)
  if (time === undefined) throw invalid(metadataPath, 'createdAt must be ISO 8601 or Unix seconds')
  return time
}
