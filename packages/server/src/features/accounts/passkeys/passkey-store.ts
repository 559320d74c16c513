import type { Reader, Writer } from '#infra/db/index.ts'

/** A public key with which the tenant's owner signs in. */
export interface Passkey {
  /** The credential's id, base64url. */
  readonly keyId: string
  readonly name: string
  /** COSE. */
  readonly publicKey: Uint8Array
  /** Of uses, as the authenticator reports it; 0 when it does not count. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly createdAt: number
  readonly lastUsedAt?: number
}

interface PasskeyTables {
  passkeys: {
    tenant_id: number
    key_id: string
    name: string
    public_key: Uint8Array
    counter: number
    transports: string
    created_at: number
    last_used_at: number | null
  }
  passkey_challenges: { tenant_id: number; challenge_hash: string; expires_at: number }
}

/** Oldest first. */
export async function listPasskeys(reader: Reader): Promise<Passkey[]> {
  const rows = await reader
    .tables<PasskeyTables>()
    .selectFrom('passkeys')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()
  return rows.map((row) => ({
    keyId: row.key_id,
    name: row.name,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports),
    createdAt: row.created_at,
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
  }))
}

/** False when there is one with this id already. */
export async function insertPasskey(tx: Writer, passkey: Passkey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .tables<PasskeyTables>()
    .insertInto('passkeys')
    .values({
      tenant_id: tx.tenantId,
      key_id: passkey.keyId,
      name: passkey.name,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: JSON.stringify(passkey.transports),
      created_at: passkey.createdAt,
      last_used_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Notes a use. False when the counter has not gone up: the same answer again, or a copy of the authenticator. */
export async function updatePasskeyUse(
  tx: Writer,
  { keyId, counter, usedAt }: { keyId: string; counter: number; usedAt: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .tables<PasskeyTables>()
    .updateTable('passkeys')
    .set({ counter, last_used_at: usedAt })
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', '=', keyId)
    .where((row) =>
      row.or([row('counter', '<', counter), row.and([row('counter', '=', 0), row.lit(counter === 0)])]),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function updatePasskeyName(
  tx: Writer,
  { keyId, name }: Pick<Passkey, 'keyId' | 'name'>,
): Promise<void> {
  await tx
    .tables<PasskeyTables>()
    .updateTable('passkeys')
    .set({ name })
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', '=', keyId)
    .execute()
}

export async function removePasskey(tx: Writer, keyId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .tables<PasskeyTables>()
    .deleteFrom('passkeys')
    .where('tenant_id', '=', tx.tenantId)
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Answers how many there were. */
export async function removePasskeys(tx: Writer): Promise<number> {
  const { numDeletedRows } = await tx
    .tables<PasskeyTables>()
    .deleteFrom('passkeys')
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export async function insertChallenge(tx: Writer, challengeHash: string, expiresAt: number): Promise<void> {
  await tx
    .tables<PasskeyTables>()
    .insertInto('passkey_challenges')
    .values({ tenant_id: tx.tenantId, challenge_hash: challengeHash, expires_at: expiresAt })
    .execute()
}

/** Removes the ended ones and answers how many are left. */
export async function sweepChallenges(tx: Writer, now: number): Promise<number> {
  const tables = tx.tables<PasskeyTables>()
  await tables
    .deleteFrom('passkey_challenges')
    .where('tenant_id', '=', tx.tenantId)
    .where('expires_at', '<=', now)
    .execute()
  const { total } = await tables
    .selectFrom('passkey_challenges')
    .select((row) => row.fn.countAll<number>().as('total'))
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** Removes the challenge that ends first. */
export async function deleteOldestChallenge(tx: Writer): Promise<void> {
  await tx
    .tables<PasskeyTables>()
    .deleteFrom('passkey_challenges')
    .where('tenant_id', '=', tx.tenantId)
    .where('challenge_hash', 'in', (eb) =>
      eb
        .selectFrom('passkey_challenges as own')
        .select('own.challenge_hash')
        .where('own.tenant_id', '=', tx.tenantId)
        .orderBy('own.expires_at')
        .limit(1),
    )
    .execute()
}

export async function deleteChallenges(tx: Writer): Promise<void> {
  await tx
    .tables<PasskeyTables>()
    .deleteFrom('passkey_challenges')
    .where('tenant_id', '=', tx.tenantId)
    .execute()
}

/** True once for each challenge, and only while it is valid. */
export async function takeChallenge(tx: Writer, challengeHash: string, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .tables<PasskeyTables>()
    .deleteFrom('passkey_challenges')
    .where('tenant_id', '=', tx.tenantId)
    .where('challenge_hash', '=', challengeHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
