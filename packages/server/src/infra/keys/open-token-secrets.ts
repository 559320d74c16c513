import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { isKeyId, newKeyId } from './key-id.ts'
import type { TokenSecrets, Vault } from './keys.ts'
import {
  deleteTokenSecrets,
  findCurrentTokenSecret,
  findTokenSecret,
  insertTokenSecret,
  retireTokenSecret,
  type StoredTokenSecret,
} from './token-secrets-store.ts'

interface OpenTokenSecretsOptions {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Pick<Clock, 'now'>
}

const purpose = 'token-secret'
const secretBytes = 48
// Tokens live as long as a session can be refreshed; after that nothing signed with a retired secret is valid.
const retiredLifeSecs = 30 * 86_400
// How long another process's rotation may go unnoticed; until then both secrets are good.
const rereadMs = 60_000
const maxCachedSecrets = 100

interface OpenedSecret {
  readonly kid: string
  readonly key: KeyObject
  readonly retiredAt: number | undefined
  readonly readAtMs: number
}

/** The secrets of this server's own tokens, sealed in its database and shared by its nodes. The first is made when it is
 * first asked for. */
export function openTokenSecrets({ db, vault, clock }: OpenTokenSecretsOptions): TokenSecrets {
  const cache = new LRUCache<string, OpenedSecret>({ max: maxCachedSecrets })
  let currentKid: string | undefined
  let loading: Promise<OpenedSecret> | undefined

  const open = ({ kid, sealedSecret, retiredAt }: StoredTokenSecret): OpenedSecret => {
    const key = createSecretKey(vault.unseal(purpose, serverTenant, sealedSecret))
    const opened = { kid, key, retiredAt, readAtMs: clock.now() }
    cache.set(kid, opened)
    return opened
  }

  const fresh = (kid: string | undefined): OpenedSecret | undefined => {
    const known = kid === undefined ? undefined : cache.get(kid)
    return known && clock.now() - known.readAtMs < rereadMs ? known : undefined
  }

  const load = async (): Promise<OpenedSecret> => {
    const stored = await findOrMakeSecret({ db, vault, clock })
    currentKid = stored.kid
    return open(stored)
  }

  return {
    async current() {
      const known = fresh(currentKid)
      if (known && known.retiredAt === undefined) return known
      // Many requests may wait for the same read.
      loading ??= load().finally(() => {
        loading = undefined
      })
      return loading
    },
    async find(kid) {
      if (!isKeyId(kid)) return undefined
      const stored = fresh(kid) ?? (await findTokenSecret(db.reader(serverTenant), kid))
      if (!stored || (stored.retiredAt ?? Number.POSITIVE_INFINITY) + retiredLifeSecs <= nowSecs(clock))
        return undefined
      return 'key' in stored ? stored.key : open(stored).key
    },
    async rotate() {
      await db.transact(serverTenant, async (tx) => {
        await replaceSecret({ vault, clock }, tx)
        tx.afterCommit(() => {
          currentKid = undefined
          cache.clear()
        })
      })
    },
  }
}

async function makeSecret(
  { vault, clock }: Pick<OpenTokenSecretsOptions, 'vault' | 'clock'>,
  tx: Writer,
): Promise<StoredTokenSecret> {
  const kid = newKeyId(clock.now())
  const sealedSecret = vault.seal(purpose, serverTenant, randomBytes(secretBytes))
  await insertTokenSecret(tx, { kid, sealedSecret, createdAt: nowSecs(clock) })
  return { kid, sealedSecret, retiredAt: undefined }
}

async function replaceSecret(
  options: Pick<OpenTokenSecretsOptions, 'vault' | 'clock'>,
  tx: Writer,
): Promise<void> {
  const now = nowSecs(options.clock)
  await retireTokenSecret(tx, now)
  await deleteTokenSecrets(tx, now - retiredLifeSecs)
  await makeSecret(options, tx)
}

/** Another process may make the first one at the same time: within the transaction it is looked for again. */
async function findOrMakeSecret({ db, vault, clock }: OpenTokenSecretsOptions): Promise<StoredTokenSecret> {
  const current = await findCurrentTokenSecret(db.reader(serverTenant))
  if (current) return current
  return db.transact(
    serverTenant,
    async (tx) => (await findCurrentTokenSecret(tx)) ?? makeSecret({ vault, clock }, tx),
  )
}
