import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { AcmeClient, AcmeError, newPrivateKey } from '#infra/tls/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { findAccount, insertAccount, type StoredAccount, setAccountUrl } from './account-store.ts'
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
  /** Does something as the account, which is made for the first time it is needed, and again where the authority has
   * forgotten it. */
  use<Result>(work: (client: AcmeClient) => Promise<Result>): Promise<Result>
}

export function openAccount(deps: AccountDeps): Account {
  let opened: AcmeClient | undefined
  return {
    async use(work) {
      opened ??= await openClient(deps)
      try {
        return await work(opened)
      } catch (error) {
        if (!(error instanceof AcmeError) || error.type !== 'accountDoesNotExist') throw error
        await register(deps, opened)
        return await work(opened)
      }
    },
  }
}

async function openClient(deps: AccountDeps): Promise<AcmeClient> {
  const { db, vault, directoryUrl, egress, clock } = deps
  const { sealedKey, url } = (await findAccount(db.reader(serverTenant), directoryUrl)) ?? (await make(deps))
  const accountKey = Buffer.from(vault.unseal(accountKeySeal, serverTenant, sealedKey)).toString()
  const client = await AcmeClient.open({ egress, clock, directoryUrl, accountKey, accountUrl: url })
  if (url === undefined) await register(deps, client)
  return client
}

async function make({ db, vault, clock, directoryUrl }: AccountDeps): Promise<StoredAccount> {
  const sealedKey = vault.seal(accountKeySeal, serverTenant, Buffer.from(await newPrivateKey()))
  return await db.transact(serverTenant, async (tx) => {
    await insertAccount(tx, directoryUrl, { sealedKey, now: nowSecs(clock) })
    // Of two processes at the same time one was the first.
    return (await findAccount(tx, directoryUrl)) ?? { sealedKey, url: undefined }
  })
}

async function register({ db, directoryUrl, email }: AccountDeps, client: AcmeClient): Promise<void> {
  const url = await client.register(email)
  await db.transact(serverTenant, (tx) => setAccountUrl(tx, directoryUrl, url))
}
