import { createHmac, type KeyObject } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Failure } from '#lib/failure.ts'

/** The files of a backup, in this order. */
export const names = {
  about: 'about.json',
  database: { sqlite: 'kith.db', postgres: 'postgres.dump' },
  masterKey: 'master.key',
  blob: (tenantId: number, hash: string) => `blobs/${tenantId}/${hash}`,
  manifest: 'manifest.json',
} as const

export const formatVersion = 1

/** What stands first in a backup. */
export const About = Type.Object({
  format: Type.Literal('kith-backup'),
  formatVersion: Type.Literal(formatVersion),
  /** Of the program. */
  version: Type.String(),
  createdAt: Type.String(),
  baseIdTag: Type.String(),
  database: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
  withMasterKey: Type.Boolean(),
  /** Tells the master key of the server from others, and nothing about it. */
  keyPrint: Type.String(),
})
export type About = Static<typeof About>

/** What stands last: a backup without it was cut off. The hash of a blob is its name. */
export const Manifest = Type.Object({
  tenants: Type.Integer(),
  database: Type.Object({ bytes: Type.Integer(), sha256: Type.String() }),
  blobs: Type.Object({ count: Type.Integer(), bytes: Type.Integer() }),
})
export type Manifest = Static<typeof Manifest>

const aboutForm = Compile(About)
const manifestForm = Compile(Manifest)

export function keyPrintOf(masterKey: KeyObject): string {
  return createHmac('sha256', masterKey).update('kith-backup').digest('base64url').slice(0, 22)
}

export function readAbout(text: string): About {
  const about = parsed(text)
  if (!aboutForm.Check(about)) throw unusable('it is no backup, or one of a newer version')
  return about
}

export function readManifest(text: string): Manifest {
  const manifest = parsed(text)
  if (!manifestForm.Check(manifest)) throw unusable('its manifest is damaged')
  return manifest
}

export function unusable(reason: string): Failure {
  return new Failure('E-VALIDATION', { message: `This backup cannot be used: ${reason}.` })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unusable('it holds text that is no JSON')
  }
}
