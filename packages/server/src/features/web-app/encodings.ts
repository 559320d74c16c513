import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { unlessMissing } from '#lib/system-error.ts'

/** As `Content-Encoding` names them; the shortest first. */
export const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number] | 'identity'

/** What the names of files that were compressed at build end in. */
export const endings: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz', identity: '' }

/** A file with its compressed forms, as far as the build has them. */
export interface Coded extends Partial<Record<Encoding, Buffer>> {
  readonly identity: Buffer
  /** The hash of its bytes. */
  readonly tag: string
}

export async function readCoded(path: string): Promise<Coded | undefined> {
  const [identity, br, gzip] = await Promise.all(
    (['identity', ...encodings] as const).map((each) => unlessMissing(readFile(path + endings[each]))),
  )
  if (!identity) return undefined
  return {
    identity,
    tag: hash('sha256', identity, 'hex').slice(0, 32),
    ...(br && { br }),
    ...(gzip && { gzip }),
  }
}

// Browsers name five encodings.
const longestHeader = 200

/** The best of the encodings that a client takes (RFC 9110 section 12.5.3). */
export function chooseEncoding(
  acceptEncoding: string | undefined,
  has: (encoding: Encoding) => boolean,
): Encoding {
  const weights = new Map(
    (acceptEncoding ?? '')
      .slice(0, longestHeader)
      .toLowerCase()
      .split(',')
      .map((each) => {
        const [name = '', ...parameters] = each.split(';').map((part) => part.trim())
        const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
        return [name, weight === undefined ? 1 : Number(weight)] as const
      }),
  )
  const isTaken = (encoding: Encoding) => (weights.get(encoding) ?? weights.get('*') ?? 0) > 0
  return encodings.find((encoding) => isTaken(encoding) && has(encoding)) ?? 'identity'
}
