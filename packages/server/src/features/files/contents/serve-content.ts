import { Readable } from 'node:stream'
import type { FileType } from '@kith/protocol'
import type { StoredFile } from '../file.ts'
import { contentDisposition, sandboxPolicy } from '../serving/serving-headers.ts'

interface ServedContent {
  readonly headers: Record<string, string>
  readonly open: () => Promise<Readable>
}

const endings: Partial<Record<FileType, string>> = { CRDT: '.ydoc', RTDB: '.jsonl' }

/** A state of a document or a database as an answer (docs/protocol/file-history.md, Bytes). It is made while it is sent:
 * nobody knows its length, and the next request may be answered with another. */
export function serveContent(
  { fileName, fileTp }: Pick<StoredFile, 'fileName' | 'fileTp'>,
  content: { readonly mediaType: string; readonly seq?: number; readonly pieces: AsyncIterable<Uint8Array> },
): ServedContent {
  const { mediaType, seq, pieces } = content
  const name = contentName({ fileName, fileTp }, seq)
  const headers = {
    'content-type': mediaType,
    'accept-ranges': 'none',
    'cache-control': 'private, no-store',
    vary: 'Authorization',
    'content-security-policy': sandboxPolicy,
    'content-disposition': contentDisposition('attachment', name),
  }
  return { headers, open: () => openPieces(pieces) }
}

/** The name of a state as a file; `seq` is the number of a snapshot. */
export function contentName(
  { fileName, fileTp }: Pick<StoredFile, 'fileName' | 'fileTp'>,
  seq?: number,
): string {
  const ending = endings[fileTp] ?? ''
  const stem = fileName.endsWith(ending) ? fileName.slice(0, fileName.length - ending.length) : fileName
  return seq === undefined ? `${stem}${ending}` : `${stem}.${seq}${ending}`
}

/** With the first piece read: what fails by then is still told as a failure. */
export async function openPieces(pieces: AsyncIterable<Uint8Array>): Promise<Readable> {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* all() {
    for (let step = first; !step.done; step = await iterator.next())
      if (step.value.length > 0) yield step.value
  }
  const stream = Readable.from(all(), { objectMode: false })
  // A reader that goes away has not read to the end.
  stream.once('close', () => void iterator.return?.())
  return stream
}
