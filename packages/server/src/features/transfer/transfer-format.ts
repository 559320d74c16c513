import { maxTimestamp } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Failure } from '#lib/failure.ts'

/** The files of an export, in this order; those of one table follow each other. */
export const names = {
  about: 'about.json',
  rows: (table: string, part: number) => `rows/${table}/${String(part).padStart(6, '0')}.jsonl`,
  blob: (hash: string) => `blobs/${hash}`,
  jobs: (part: number) => `jobs/${String(part).padStart(6, '0')}.jsonl`,
  manifest: 'manifest.json',
}

export const formatVersion = 2

/** What stands first in an export: whose it is, and who can read it. */
export const About = Type.Object({
  format: Type.Literal('kith-export'),
  formatVersion: Type.Literal(formatVersion),
  /** Of the program. */
  version: Type.String(),
  createdAt: Type.String(),
  withKeys: Type.Boolean(),
  /** True where it is absent. */
  withPassword: Type.Optional(Type.Boolean()),
  /** The rows have the form that these migrations gave them. */
  migrations: Type.Array(Type.String()),
  tenant: Type.Object({
    idTag: Type.String(),
    type: Type.Union([Type.Literal('person'), Type.Literal('community')]),
    createdAt: Type.Integer({ minimum: 0, maximum: maxTimestamp }),
    isSuspended: Type.Boolean(),
    ownerTag: Type.Optional(Type.String()),
    appDomain: Type.Optional(Type.String()),
  }),
})
export type About = Static<typeof About>

/** What stands last: an export without it was cut off. */
export const Manifest = Type.Object({
  tables: Type.Record(Type.String(), Type.Object({ rows: Type.Integer(), sha256: Type.String() })),
  jobs: Type.Integer(),
  blobs: Type.Object({ count: Type.Integer(), bytes: Type.Integer() }),
})
export type Manifest = Static<typeof Manifest>

const aboutForm = Compile(About)
const manifestForm = Compile(Manifest)

export function readAbout(text: string): About {
  const about: unknown = parsed(text)
  if (!aboutForm.Check(about)) throw unreadable('it is no export, or one of a newer version')
  return about
}

export function readManifest(text: string): Manifest {
  const manifest: unknown = parsed(text)
  if (!manifestForm.Check(manifest)) throw unreadable('its manifest is damaged')
  return manifest
}

export function unreadable(reason: string): Failure {
  return new Failure('E-VALIDATION', { message: `This file cannot be imported: ${reason}.` })
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable('it holds text that is no JSON')
  }
}
