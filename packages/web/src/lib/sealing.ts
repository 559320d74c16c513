/** What seals the values that a device keeps, and names them. Neither key can be read out again. */
export interface SealingKeys {
  readonly seal: CryptoKey
  readonly name: CryptoKey
}

/** A value that only the holder of the key can read. */
export interface Sealed {
  readonly iv: Uint8Array<ArrayBuffer>
  readonly bytes: ArrayBuffer
}

const encode = (text: string) => new TextEncoder().encode(text)

/** The keys of one identity, made from its secret. What was sealed for another one cannot be opened with them. */
export async function deriveKeys(secret: Uint8Array<ArrayBuffer>, idTag: string): Promise<SealingKeys> {
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey'])
  const saltOf = (use: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encode(`kith ${use} ${idTag}`),
  })
  const [seal, name] = await Promise.all([
    crypto.subtle.deriveKey(saltOf('seal'), base, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
    crypto.subtle.deriveKey(saltOf('name'), base, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, [
      'sign',
    ]),
  ])
  return { seal, name }
}

/** What stands for a name where the name would tell something. */
export async function blindName({ name: key }: SealingKeys, name: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encode(name)))
  return Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Seals bytes; they can be opened under the same name only. */
export async function sealBytes(
  { seal }: SealingKeys,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Sealed> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const how = { name: 'AES-GCM', iv, additionalData: encode(name) }
  return { iv, bytes: await crypto.subtle.encrypt(how, seal, bytes) }
}

/** The bytes that were sealed; throws where they are another's, or were changed. */
export function openBytes({ seal }: SealingKeys, name: string, { iv, bytes }: Sealed): Promise<ArrayBuffer> {
  return crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: encode(name) }, seal, bytes)
}

const mapMember = '\u0000map'

/** Seals a value of JSON and maps. */
export function sealValue(keys: SealingKeys, name: string, value: unknown): Promise<Sealed> {
  const text = JSON.stringify(value, (_, member) =>
    member instanceof Map ? { [mapMember]: [...member] } : member,
  )
  return sealBytes(keys, name, encode(text))
}

export async function openValue(keys: SealingKeys, name: string, sealed: Sealed): Promise<unknown> {
  const text = new TextDecoder().decode(await openBytes(keys, name, sealed))
  return JSON.parse(text, (_, member) =>
    Array.isArray(member?.[mapMember]) ? new Map(member[mapMember]) : member,
  )
}
