import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { AcmeClient, AcmeError, newPrivateKey } from '#infra/tls/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import {
  findAccount,
  insertAccount,
  replaceAccountKey,
  type StoredAccount,
  setAccountUrl,
} from './account-store.ts'
import { accountKeySeal } from './sealed-keys.ts'

export interface AccountDeps {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
  /** The way to the authority. */
  readonly egress: Pick<Egress, 'request'>
  readonly directoryUrl: string
  readonly email: string | undefined
}

/** The server's account with its authority; all processes have the same one. */
export interface Account {
  /** Does something as the account, which is made for the first time it is needed, again where the authority has
   * forgotten it, and with a new key where the authority has deactivated it. */
  use<Result>(work: (client: AcmeClient) => Promise<Result>): Promise<Result>
}

interface OpenedAccount {
  readonly client: AcmeClient
  readonly sealedKey: Uint8Array
}

// Let's Encrypt takes ten new accounts of an address in three hours.
const replacedEverySecs = 3600

export function openAccount(deps: AccountDeps): Account {
  let opened: OpenedAccount | undefined
  const perform: Account['use'] = async (work) => {
    opened ??= await openClient(deps)
    const used = opened
    try {
      return await work(used.client)
    } catch (error) {
      if (!isOf(error, 'accountDoesNotExist') && !isOf(error, 'unauthorized')) throw error
      opened = await findWorking(deps, used, error)
      return await work(opened.client)
    }
  }
  return {
    use: (work) =>
      perform(work).catch((error: unknown) => {
        // The same word stands for a name whose proof was not found.
        throw isOf(error, 'unauthorized') ? accountRefused(error) : error
      }),
  }
}

/** The account after the authority has refused it: the one that another process has put in its place, the same one
 * registered again, or one with a new key. */
async function findWorking(
  deps: AccountDeps,
  used: OpenedAccount,
  refusal: AcmeError,
): Promise<OpenedAccount> {
  if (!(await isStored(deps, used))) return await openClient(deps)
  try {
    await register(deps, used.client)
  } catch (error) {
    if (!isOf(error, 'unauthorized')) throw error
    await replaceKey(deps, used)
    if (await isStored(deps, used)) throw error
    return await openClient(deps)
  }
  // The authority still accepts the account, so it refused this order alone.
  if (refusal.type === 'unauthorized') throw refusal
  return used
}

async function openClient(deps: AccountDeps): Promise<OpenedAccount> {
  const { db, vault, directoryUrl, egress, clock } = deps
  const { sealedKey, url } = (await findAccount(db.reader(serverTenant), directoryUrl)) ?? (await make(deps))
  const accountKey = Buffer.from(vault.unseal(accountKeySeal, serverTenant, sealedKey)).toString()
  const client = await AcmeClient.open({ egress, clock, directoryUrl, accountKey, accountUrl: url })
  if (url === undefined) await register(deps, client)
  return { client, sealedKey }
}

async function make(deps: AccountDeps): Promise<StoredAccount> {
  const { db, clock, directoryUrl } = deps
  const sealedKey = await newSealedKey(deps)
  return await db.transact(serverTenant, async (tx) => {
    await insertAccount(tx, directoryUrl, { sealedKey, now: nowSecs(clock) })
    // Of two processes at the same time one was the first.
    return (await findAccount(tx, directoryUrl)) ?? { sealedKey, url: undefined }
  })
}

/** Puts a new key in the place of the account's, unless another process has done so or the key is new itself. */
async function replaceKey(deps: AccountDeps, { sealedKey: former }: OpenedAccount): Promise<void> {
  const { db, clock, directoryUrl } = deps
  const sealedKey = await newSealedKey(deps)
  const now = nowSecs(clock)
  await db.transact(serverTenant, (tx) =>
    replaceAccountKey(tx, directoryUrl, { former, sealedKey, now, madeBefore: now - replacedEverySecs }),
  )
}

async function newSealedKey({ vault }: AccountDeps): Promise<Uint8Array> {
  return vault.seal(accountKeySeal, serverTenant, Buffer.from(await newPrivateKey()))
}

async function isStored({ db, directoryUrl }: AccountDeps, { sealedKey }: OpenedAccount): Promise<boolean> {
  const stored = await findAccount(db.reader(serverTenant), directoryUrl)
  return stored !== undefined && Buffer.compare(stored.sealedKey, sealedKey) === 0
}

async function register({ db, directoryUrl, email }: AccountDeps, client: AcmeClient): Promise<void> {
  const url = await client.register(email)
  await db.transact(serverTenant, (tx) => setAccountUrl(tx, directoryUrl, url))
}

function isOf(error: unknown, type: string): error is AcmeError {
  return error instanceof AcmeError && error.type === type
}

function accountRefused(cause: AcmeError): AcmeError {
  return new AcmeError('accountRefused', cause.message, { retryAtMs: cause.retryAtMs, cause })
}
