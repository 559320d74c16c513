import { downloadFile } from '@kith/protocol'
import { client } from './client.ts'

interface BytesOptions {
  readonly variant?: 'tn' | 'sd' | 'hd'
  readonly signal?: AbortSignal
}

/** The bytes of a file of another identity, or of a variant of a picture. They come through the gateway, which takes no
 * bearer of the kind that may stand in an address: a page shows them from memory. */
export async function loadBytes(idTag: string, fileId: string, options: BytesOptions = {}): Promise<Blob> {
  const { variant, signal } = options
  const request = { params: { fileId }, query: variant === undefined ? {} : { variant } }
  const { data } = await client.at(idTag).call(downloadFile, request, signal === undefined ? {} : { signal })
  return await data.blob()
}

interface RemoteFile {
  readonly fileId: string
  readonly fileName: string
}

/** Has the browser save a file of another identity. */
export async function saveFile(idTag: string, { fileId, fileName }: RemoteFile): Promise<void> {
  const address = URL.createObjectURL(await loadBytes(idTag, fileId))
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
