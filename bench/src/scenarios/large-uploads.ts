import { tusVersion, uploadPieceType } from '@kith/protocol'
import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, repeat } from '../measure.ts'
import type { Settings } from '../settings.ts'

const mebibyte = 1024 * 1024
const length = 256 * mebibyte
const sampleEveryMs = 50
// Far below the length: what is on its way, and what waits to be collected.
const maxGrowthMb = 100

/** How much memory a large resumable upload takes of the server, from its first byte until its file is made. */
export async function largeUploads({ runs }: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path)
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  await allowLargeFiles(kith, headers)
  // The first one brings in what is compiled on demand.
  await upload(kith, headers)
  const grownMb = await repeat(runs, () => growthMb(kith, () => upload(kith, headers)))
  return [boundedFigure('memory that an upload of 256 MiB takes', 'MB', grownMb, maxGrowthMb)]
}

type Headers = Readonly<Record<string, string>>

async function allowLargeFiles(kith: Kith, headers: Headers): Promise<void> {
  const response = await fetch(`${kith.url}/api/settings/limits.max_file_mb`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ value: length / mebibyte + 100 }),
  })
  if (!response.ok) throw new Error(`the setting answered ${response.status}`)
}

async function upload(kith: Kith, headers: Headers): Promise<void> {
  const tus = { ...headers, 'tus-resumable': tusVersion }
  const metadata = `filename ${btoa('zeros.bin')},preset ${btoa('raw')}`
  const created = await fetch(`${kith.url}/api/uploads`, {
    method: 'POST',
    headers: { ...tus, 'upload-length': String(length), 'upload-metadata': metadata },
  })
  if (created.status !== 201) throw new Error(`the upload answered ${created.status}`)
  const finished = await fetch(`${kith.url}${created.headers.get('location')}`, {
    method: 'PATCH',
    headers: { ...tus, 'content-type': uploadPieceType, 'upload-offset': '0' },
    body: zeros(),
    duplex: 'half',
  } as RequestInit)
  if (!finished.headers.has('x-file-id')) throw new Error(`the bytes answered ${finished.status}`)
}

function zeros(): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(mebibyte)
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(piece)
      sent += piece.byteLength
      if (sent === length) controller.close()
    },
  })
}

/** The most that the server has grown by while something happened. */
async function growthMb(kith: Kith, happen: () => Promise<void>): Promise<number> {
  const before = await kith.residentMb()
  let most = before
  let isOver = false
  const happening = happen().finally(() => {
    isOver = true
  })
  while (!isOver) {
    most = Math.max(most, await kith.residentMb())
    await new Promise((resolve) => setTimeout(resolve, sampleEveryMs))
  }
  await happening
  return most - before
}
