import type { Reader, Writer } from '#infra/db/index.ts'

/** What an authority is answered that wants to see that a name leads here. */
export interface StoredChallenge {
  readonly token: string
  readonly name: string
  readonly type: string
  readonly keyAuthorization: string
}

interface ChallengeTables {
  acme_challenges: {
    token: string
    tenant_id: number
    name: string
    type: string
    key_authorization: string
    created_at: number
  }
}

// All of these take a handle of the server's own tenant: challenges are the server's.

/** The newest of them, of all names. */
export async function listChallenges(reader: Reader, limit: number): Promise<StoredChallenge[]> {
  const found = await reader
    .tables<ChallengeTables>()
    .selectFrom('acme_challenges')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute()
  return found.map(({ token, name, type, key_authorization }) => ({
    token,
    name,
    type,
    keyAuthorization: key_authorization,
  }))
}

/** In the place of others for the same name. */
export async function putChallenge(tx: Writer, challenge: StoredChallenge, now: number): Promise<void> {
  const { token, name, type, keyAuthorization } = challenge
  await deleteChallenges(tx, name)
  await tx
    .tables<ChallengeTables>()
    .insertInto('acme_challenges')
    .values({
      token,
      tenant_id: tx.tenantId,
      name,
      type,
      key_authorization: keyAuthorization,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('token').doNothing())
    .execute()
}

export async function deleteChallenges(tx: Writer, name: string): Promise<void> {
  await tx
    .tables<ChallengeTables>()
    .deleteFrom('acme_challenges')
    .where('tenant_id', '=', tx.tenantId)
    .where('name', '=', name)
    .execute()
}

export async function deleteChallengesBefore(tx: Writer, before: number): Promise<void> {
  await tx
    .tables<ChallengeTables>()
    .deleteFrom('acme_challenges')
    .where('tenant_id', '=', tx.tenantId)
    .where('created_at', '<', before)
    .execute()
}
