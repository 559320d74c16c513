import type { Kith } from './kith.ts'

const mebibyte = 1024 * 1024

export type Headers = Readonly<Record<string, string>>

/** Lets one file have this many MiB. */
export async function allowFilesOf(kith: Kith, headers: Headers, mebibytes: number): Promise<void> {
  const response = await fetch(`${kith.url}/api/settings/limits.max_file_mb`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ value: mebibytes + 100 }),
  })
  if (!response.ok) throw new Error(`the setting answered ${response.status}`)
}

/** A body of zeros, made while it is sent. */
export function zeros(mebibytes: number): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(mebibyte)
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(piece)
      sent += 1
      if (sent === mebibytes) controller.close()
    },
  })
}

/** Answers the file. */
export async function uploadRaw(
  kith: Kith,
  headers: Headers,
  {
    name,
    body,
    preset = 'raw',
    query = '',
  }: { name: string; body: RequestInit['body']; preset?: string; query?: string },
): Promise<string> {
  const response = await fetch(`${kith.url}/api/files/${preset}/${name}${query}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body,
    duplex: 'half',
  } as RequestInit)
  if (!response.ok) throw new Error(`the upload answered ${response.status}`)
  const { data } = (await response.json()) as { data: { fileId: string } }
  return data.fileId
}
