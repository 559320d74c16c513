import type { TenantId } from '#infra/db/index.ts'
import type { SealedColumn, Vault } from '#infra/keys/index.ts'
import type { StoredSetting } from './setting-store.ts'

const purpose = 'setting'

export const settingsSealed: SealedColumn = {
  table: 'settings',
  column: 'value_sealed',
  purpose,
  withoutSecret: 'no row',
}

// The name is sealed with the value, so that one secret cannot be put in the place of another.
export function sealValue(vault: Vault, owner: TenantId, name: string, text: string): Uint8Array {
  return vault.seal(purpose, owner, Buffer.from(JSON.stringify([name, text])))
}

/** The JSON text of a stored value; throws when a sealed one was tampered with. */
export function openValue(vault: Vault, owner: TenantId, { name, text, sealed }: StoredSetting): string {
  if (!sealed) return text ?? 'null'
  const [sealedName, value] = JSON.parse(Buffer.from(vault.unseal(purpose, owner, sealed)).toString())
  if (sealedName !== name) throw new Error(`The secret of the setting ${name} belongs to ${sealedName}`)
  return String(value)
}
