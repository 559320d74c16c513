import type { PassThrough, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

/** A file of an archive that is written; a folder where the path ends with a slash. */
export interface ZipPart {
  /** Relative, with slashes, without `.` and `..`. */
  readonly path: string
  /** Unix seconds. */
  readonly modifiedAt: number
  /** Where it is known: of four gigabytes and more it must be. */
  readonly size?: number | undefined
  readonly isCompressed: boolean
  /** Undefined for what is left out after all. */
  open(): Promise<Readable | undefined>
}

const fileMode = 0o100644
const folderMode = 0o40755
// What the format can name; its second date has 31 bits.
const earliest = Date.UTC(1980, 0, 2) / 1000
const latest = Date.UTC(2038, 0, 18) / 1000

/** An archive of these parts, one after the other, as fast as it is read. What throws before the end destroys the stream, so
 * that nobody takes it for whole. */
export function writeZipStream(parts: AsyncIterable<ZipPart>): Readable {
  const zip = new ZipFile()
  const output = zip.outputStream as PassThrough
  zip.on('error', (error: Error) => output.destroy(error))
  void addAll(zip, output, parts).then(
    () => zip.end(),
    (error: Error) => output.destroy(error),
  )
  return output
}

async function addAll(zip: ZipFile, output: PassThrough, parts: AsyncIterable<ZipPart>): Promise<void> {
  for await (const part of parts) {
    if (output.destroyed) return
    const mtime = new Date(Math.min(latest, Math.max(earliest, part.modifiedAt)) * 1000)
    if (part.path.endsWith('/')) zip.addEmptyDirectory(part.path, { mtime, mode: folderMode })
    else await addFile(zip, output, part, mtime)
    await drained(output)
    if (output.destroyed) return
  }
}

/** Waits until there is room for more, or nobody reads any more. */
async function drained(output: PassThrough): Promise<void> {
  if (output.destroyed || !output.writableNeedDrain) return
  await new Promise<void>((resolve) => {
    const settle = () => {
      output.off('drain', settle).off('close', settle)
      resolve()
    }
    output.on('drain', settle).on('close', settle)
  })
}

async function addFile(
  zip: ZipFile,
  output: PassThrough,
  { path, size, isCompressed: compress, open }: ZipPart,
  mtime: Date,
): Promise<void> {
  const content = await open()
  if (!content) return
  const stop = () => void content.destroy()
  output.once('close', stop)
  if (output.destroyed) stop()
  try {
    zip.addReadStream(content, path, {
      mtime,
      mode: fileMode,
      compress,
      ...(size === undefined ? {} : { size }),
    })
    await finished(content)
  } finally {
    output.off('close', stop)
  }
}
