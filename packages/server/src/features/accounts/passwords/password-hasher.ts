import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { passwordBytes } from './password.ts'

/** What a hash costs. */
export interface PasswordCost {
  readonly memoryKiB: number
  readonly passes: number
}

/** Hashes passwords on the thread pool, a few at a time; `E-UNAVAILABLE` when too many wait. */
export interface PasswordHasher {
  /** A PHC string. */
  hash(password: string): Promise<string>
  /** Takes the same time when there is no hash to compare with; one that is too costly counts as none. `isOutdated` =
   * made at another cost: hash it again. */
  check(password: string, hash: string | undefined): Promise<{ isRight: boolean; isOutdated: boolean }>
}

interface ParsedHash extends PasswordCost {
  readonly parallelism: number
  readonly salt: Buffer
  readonly tag: Buffer
}

// OWASP's figures for argon2id: 19 MiB and two passes take about 30 ms of one core.
const usualCost: PasswordCost = { memoryKiB: 19_456, passes: 2 }
// A stored hash names its own cost, and an import takes what another server has stored: about seven times the usual
// one.
const highestCost = { memoryKiB: 65_536, memoryKiBTimesPasses: 262_144, parallelism: 4 }
const parallelism = 1
const saltBytes = 16
const tagBytes = 32
// libuv has four threads, which files and DNS need as well. Behind them 64 wait two seconds at the worst.
const gateLimits = { total: 2, perKey: 2, waiting: 64, waitingPerKey: 64 }

const phcForm =
  /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

const run = promisify(argon2)

export function createPasswordHasher(cost: PasswordCost = usualCost): PasswordHasher {
  const gate = new Gate(gateLimits)

  async function derive(password: string, to: Omit<ParsedHash, 'tag'>, tagLength: number): Promise<Buffer> {
    const leave = await gate.enter('argon2').catch((error: unknown) => {
      throw error instanceof GateFullError
        ? new Failure('E-UNAVAILABLE', { retryAfterSecs: 2, cause: error })
        : error
    })
    try {
      return await run('argon2id', {
        message: passwordBytes(password),
        nonce: to.salt,
        memory: to.memoryKiB,
        passes: to.passes,
        parallelism: to.parallelism,
        tagLength,
      })
    } finally {
      leave()
    }
  }

  return {
    async hash(password) {
      const made = { ...cost, parallelism, salt: randomBytes(saltBytes) }
      return format({ ...made, tag: await derive(password, made, tagBytes) })
    },

    async check(password, hash) {
      const stored = hash === undefined ? undefined : parse(hash)
      const to = stored ?? {
        ...cost,
        parallelism,
        salt: Buffer.alloc(saltBytes),
        tag: Buffer.alloc(tagBytes),
      }
      const tag = await derive(password, to, to.tag.length)
      const isRight = timingSafeEqual(tag, to.tag) && stored !== undefined
      const isOutdated = to.memoryKiB !== cost.memoryKiB || to.passes !== cost.passes
      return { isRight, isOutdated }
    },
  }
}

function format({ memoryKiB, passes, parallelism, salt, tag }: ParsedHash): string {
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

/** Can a password be compared with this hash, at a cost that this server pays for a request without a token? */
export function isUsableHash(hash: string): boolean {
  return parse(hash) !== undefined
}

function parse(hash: string): ParsedHash | undefined {
  const [, memory, passes, lanes, salt, tag] = phcForm.exec(hash) ?? []
  if (salt === undefined || tag === undefined) return undefined
  const parsed = {
    memoryKiB: Number(memory),
    passes: Number(passes),
    parallelism: Number(lanes),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
  return isAffordable(parsed) ? parsed : undefined
}

/** RFC 9106: at least 8 KiB for each lane. */
function isAffordable({ memoryKiB, passes, parallelism: lanes }: Omit<ParsedHash, 'salt' | 'tag'>): boolean {
  const isDefined = passes >= 1 && lanes >= 1 && memoryKiB >= 8 * lanes
  return (
    isDefined &&
    lanes <= highestCost.parallelism &&
    memoryKiB <= highestCost.memoryKiB &&
    memoryKiB * passes <= highestCost.memoryKiBTimesPasses
  )
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
