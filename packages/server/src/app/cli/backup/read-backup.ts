import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type ArchivedFile, readArchive, readText } from '#infra/archive/index.ts'
import { type BlobStore, isBlobHash, openDiskBlobs } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type About, type Manifest, names, readAbout, readManifest, unusable } from './backup-format.ts'
import type { RestorePlace } from './restore-place.ts'

export interface ReadBackup extends Manifest {
  readonly about: About
}

interface UnpackOptions {
  readonly clock: Clock
  /** Of the server that gets the backup: it would not start with the data of another one. */
  readonly baseIdTag: string
}

/** Unpacks a backup into the staging folders and checks every byte of it against its hash and its manifest. */
export async function unpackBackup(
  path: string,
  place: RestorePlace,
  { clock, baseIdTag }: UnpackOptions,
): Promise<ReadBackup> {
  const blobs = await openDiskBlobs({ dir: place.stagedBlobs, clock, logger: silentLogger })
  const found = { tenants: 0, blobs: { count: 0, bytes: 0 } }
  const seen = new Set<string>()
  let about: About | undefined
  let database: Manifest['database'] | undefined
  for await (const file of readArchive(path)) {
    if (!about) {
      about = await readFirst(file, place, baseIdTag)
      continue
    }
    const [folder, tenant = '', hash = ''] = file.name.split('/')
    // Of bytes their hash says that they are the same.
    if (folder !== 'blobs' && seen.has(file.name)) throw unusable(`it holds ${file.name} twice`)
    if (folder !== 'blobs') seen.add(file.name)
    if (file.name === names.database[about.database] && !database)
      database = await unpack(file, place.stagedDatabase)
    else if (file.name === names.masterKey && about.withMasterKey)
      await writeFile(place.stagedKey, await readText(file), { mode: 0o600 })
    else if (folder === 'blobs') {
      found.blobs.bytes += await unpackBlob(blobs, file, { tenant, hash })
      found.blobs.count += 1
    } else if (file.name === names.manifest) {
      const manifest = readManifest(await readText(file))
      const isWhole =
        database?.sha256 === manifest.database.sha256 &&
        found.blobs.count === manifest.blobs.count &&
        found.blobs.bytes === manifest.blobs.bytes
      if (!isWhole) throw unusable('its contents differ from its manifest')
      return { ...manifest, about }
    } else throw unusable(`it holds a file ${file.name}`)
  }
  throw unusable('its end is missing')
}

async function readFirst(file: ArchivedFile, { database }: RestorePlace, baseIdTag: string): Promise<About> {
  if (file.name !== names.about) throw unusable('it is no backup')
  const about = readAbout(await readText(file))
  if (about.database !== database.kind)
    throw unusable(
      `it is of a server on ${about.database}, and DATABASE_URL names ${database.kind}. Tenants move between the two with kith export and kith import`,
    )
  if (about.baseIdTag !== baseIdTag)
    throw unusable(
      `it is of ${about.baseIdTag}, and BASE_ID_TAG is ${baseIdTag}. Set BASE_ID_TAG=${about.baseIdTag} first`,
    )
  return about
}

async function unpack({ bytes }: ArchivedFile, to: string): Promise<Manifest['database']> {
  const digest = createHash('sha256')
  let size = 0
  const counted = async function* () {
    for await (const chunk of bytes) {
      digest.update(chunk)
      size += chunk.byteLength
      yield chunk
    }
  }
  await pipeline(counted(), createWriteStream(to, { mode: 0o600, flush: true }))
  return { bytes: size, sha256: digest.digest('hex') }
}

async function unpackBlob(
  blobs: BlobStore,
  { size, bytes }: ArchivedFile,
  { tenant, hash }: { readonly tenant: string; readonly hash: string },
): Promise<number> {
  if (!/^[1-9]\d{0,14}$/.test(tenant) || !isBlobHash(hash))
    throw unusable('it holds bytes without a proper name')
  const staged = await blobs.stage(Number(tenant) as TenantId, bytes, { maxBytes: size })
  try {
    if (staged.hash !== hash) throw unusable(`its blob ${hash} of tenant ${tenant} is damaged`)
    await staged.keep()
  } finally {
    await staged.discard()
  }
  return size
}
