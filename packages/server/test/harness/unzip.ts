import { buffer } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'

export interface Unzipped {
  readonly content: Buffer
  readonly isStored: boolean
  readonly hasUtf8Name: boolean
  readonly modifiedAt: Date
}

/** All that is in a zip archive, each entry checked. Throws for one that is not whole. */
export async function unzip(archive: Buffer): Promise<Map<string, Unzipped>> {
  const zip = await fromBufferPromise(archive, { strictFileNames: true })
  const entries = new Map<string, Unzipped>()
  for await (const entry of zip.eachEntry()) {
    const content = await buffer(await zip.openReadStreamPromise(entry))
    entries.set(entry.fileName, {
      content,
      isStored: entry.compressionMethod === 0,
      hasUtf8Name: (entry.generalPurposeBitFlag & 0x800) !== 0,
      modifiedAt: entry.getLastModDate(),
    })
  }
  return entries
}
