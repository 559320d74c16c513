import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { IdTag } from '@kith/protocol'
import { idTag, Kith, tempDir } from '../../../bench/src/kith.ts'
import { openData, peerTag } from '../../../bench/src/seed.ts'
import { picture } from '../test/harness/picture.ts'
import { club, fillTown } from './fill-town.ts'

const people = 25

/** A server that was filled and the way into it. */
export interface Town extends AsyncDisposable {
  /** Where the app of its owner is. */
  readonly url: string
  readonly kith: Kith
  readonly token: string
  readonly folderId: string
  /** Who writes to the owner, each with the key that its posts are signed with. */
  readonly writers: readonly { readonly idTag: IdTag; readonly key: KeyObject }[]
}

interface TownOptions {
  readonly items: number
  /** How many photos lie in one month; they are spread over two years when absent. */
  readonly photosOfMonth?: number
}

/** Fills a server through its own stores and starts it: posts with pictures, photos, messages and members, so many of each. */
export async function startTown(options: TownOptions): Promise<Town> {
  const data = await tempDir()
  const writers = Array.from({ length: people }, (_, at) => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    return { idTag: peerTag(at), ...keys }
  })
  const uploaded = await prepare(data.path)
  const db = await openData(data.path)
  const folderId = await fillTown(db, { ...options, writers, uploaded })
  await db.close()
  const kith = await Kith.start(data.path)
  return {
    url: kith.url.replace('127.0.0.1', idTag),
    kith,
    token: await kith.signIn(),
    folderId,
    writers: writers.map(({ idTag, privateKey }) => ({ idTag, key: privateKey })),
    async [Symbol.asyncDispose]() {
      await kith[Symbol.asyncDispose]()
      await data[Symbol.asyncDispose]()
    },
  }
}

const hues = Array.from({ length: 12 }, (_, at) => at * 30)

/** What has to be made by a server that runs: pictures in all their sizes, and a community. Answers the pictures. */
async function prepare(dataDir: string): Promise<readonly string[]> {
  await using kith = await Kith.start(dataDir)
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  const fileIds: string[] = []
  for (const hue of hues) {
    const body = await picture(hue, 1200, hue % 60 === 0 ? 800 : 1500)
    const answer = await fetch(`${kith.url}/api/files/default/hills-${hue}.jpg`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'image/jpeg' },
      body,
    })
    fileIds.push(((await answer.json()) as { data: { fileId: string } }).data.fileId)
  }
  for (const fileId of fileIds) await untilMade(kith, headers, fileId)
  const founded = await fetch(`${kith.url}/api/profiles/${club}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'community', name: 'Garden club' }),
  })
  if (!founded.ok) throw new Error(`the community answered ${founded.status} ${await founded.text()}`)
  return fileIds
}

async function untilMade(kith: Kith, headers: Record<string, string>, fileId: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${kith.url}/api/files/${fileId}/metadata`, { headers })
    const { data } = (await answer.json()) as { data: { status: string } }
    if (data.status === 'A') return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Photos of 3 MB each, none like another, as files of a folder. */
export async function writePhotos(folder: string, count: number, photo: Uint8Array): Promise<string[]> {
  const paths: string[] = []
  for (let at = 0; at < count; at += 1) {
    const bytes = Buffer.alloc(3_000_000, at)
    bytes.set(photo)
    bytes.writeUInt32BE(at, bytes.length - 8)
    const path = `${folder}/photo-${at}.jpg`
    await writeFile(path, bytes)
    paths.push(path)
  }
  return paths
}
