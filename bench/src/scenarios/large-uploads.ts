import { tusVersion, uploadPieceType } from '@kith/protocol'
import { Kith, tempDir } from '../kith.ts'
import { allowFilesOf, type Headers, uploadRaw, zeros } from '../large-files.ts'
import { boundedFigure, type Figure, repeat } from '../measure.ts'
import { growthMb } from '../resident-memory.ts'
import type { Settings } from '../settings.ts'

const mebibytes = 1024
// Far below the length: what is on its way, and what waits to be collected.
const maxGrowthMb = 80

const ways = {
  'in one request': (kith: Kith, headers: Headers) =>
    uploadRaw(kith, headers, { name: 'zeros.bin', body: zeros(mebibytes) }),
  'that can be resumed': uploadResumable,
}

/** How much memory a large upload takes of the server, from its first byte until its file is made. */
export async function largeUploads({ runs }: Settings): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [way, upload] of Object.entries(ways)) {
    await using data = await tempDir()
    await using kith = await Kith.start(data.path)
    const headers = { authorization: `Bearer ${await kith.signIn()}` }
    await allowFilesOf(kith, headers, mebibytes)
    const grownMb = await repeat(runs, () => growthMb(kith, async () => void (await upload(kith, headers))))
    figures.push(boundedFigure(`memory that an upload of 1 GiB ${way} takes`, 'MB', grownMb, maxGrowthMb))
  }
  return figures
}

async function uploadResumable(kith: Kith, headers: Headers): Promise<void> {
  const tus = { ...headers, 'tus-resumable': tusVersion }
  const metadata = `filename ${btoa('zeros.bin')},preset ${btoa('raw')}`
  const created = await fetch(`${kith.url}/api/uploads`, {
    method: 'POST',
    headers: { ...tus, 'upload-length': String(mebibytes * 1024 * 1024), 'upload-metadata': metadata },
  })
  if (created.status !== 201) throw new Error(`the upload answered ${created.status}`)
  const finished = await fetch(`${kith.url}${created.headers.get('location')}`, {
    method: 'PATCH',
    headers: { ...tus, 'content-type': uploadPieceType, 'upload-offset': '0' },
    body: zeros(mebibytes),
    duplex: 'half',
  } as RequestInit)
  if (!finished.headers.has('x-file-id')) throw new Error(`the bytes answered ${finished.status}`)
}
