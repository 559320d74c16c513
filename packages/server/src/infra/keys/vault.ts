import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { TenantId } from '#infra/db/index.ts'
import type { Vault } from './keys.ts'

// version (1) ‖ nonce (12) ‖ tag (16) ‖ ciphertext. The version stands for everything below; another scheme gets another.
const version = 1
const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16
const headLength = 1 + nonceLength + tagLength

const purposeForm = /^[a-z0-9][a-z0-9 ./:_-]{0,63}$/i
// Purposes are constants of the program: more of them would mean that one is made from data.
const maxPurposes = 200

/** A vault that opens only with this master key (32 bytes). */
export function openVault({ masterKey }: { readonly masterKey: KeyObject }): Vault {
  if (masterKey.type !== 'secret' || masterKey.symmetricKeySize !== 32)
    throw new TypeError('A master key has 32 bytes')
  const keys = new Map<string, Uint8Array>()
  const keyFor = (purpose: string, use = 'vault') => {
    const name = `kith ${use} ${version} ${purpose}`
    const known = keys.get(name)
    if (known) return known
    if (!purposeForm.test(purpose) || keys.size >= maxPurposes)
      throw new TypeError('The purpose of a secret is one of few constants')
    // The salt may be empty: the master key is uniformly random already (RFC 5869, section 3.1).
    const key = new Uint8Array(hkdfSync('sha256', masterKey, '', name, 32))
    keys.set(name, key)
    return key
  }
  return {
    seal(purpose, owner, secret) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(algorithm, keyFor(purpose), nonce, { authTagLength: tagLength })
      cipher.setAAD(associatedData(purpose, owner))
      const sealed = [cipher.update(secret), cipher.final()]
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), ...sealed])
    },
    unseal(purpose, owner, sealed) {
      if (sealed.length < headLength || sealed[0] !== version) throw new Error('This is no sealed secret')
      const nonce = sealed.subarray(1, 1 + nonceLength)
      const decipher = createDecipheriv(algorithm, keyFor(purpose), nonce, { authTagLength: tagLength })
      decipher.setAAD(associatedData(purpose, owner))
      decipher.setAuthTag(sealed.subarray(1 + nonceLength, headLength))
      const opened = decipher.update(sealed.subarray(headLength))
      try {
        return Buffer.concat([opened, decipher.final()])
      } catch (cause) {
        const message = `A secret (${purpose}) was sealed for something else or with another master key`
        throw new Error(message, { cause })
      }
    },
    mac: (purpose, text) => createHmac('sha256', keyFor(purpose, 'mac')).update(text).digest(),
  }
}

function associatedData(purpose: string, owner: TenantId): Uint8Array {
  return Buffer.from(`${purpose}\n${owner}`)
}
