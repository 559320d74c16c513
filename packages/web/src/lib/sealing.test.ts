import { expect, test } from 'vitest'
import { blindName, deriveKeys, openValue, sealValue } from './sealing.ts'

const secret = (fill: number) => new Uint8Array(32).fill(fill)

test('a sealed value opens with the same secret, identity and name, and with no other', async () => {
  const keys = await deriveKeys(secret(1), 'anna.example')
  const value = { text: 'Plum cake', found: new Map([['a', { n: 1 }]]), none: null }
  const sealed = await sealValue(keys, 'feed', value)
  expect(await openValue(await deriveKeys(secret(1), 'anna.example'), 'feed', sealed)).toEqual(value)
  await expect(openValue(keys, 'thread', sealed)).rejects.toThrow()
  await expect(openValue(await deriveKeys(secret(2), 'anna.example'), 'feed', sealed)).rejects.toThrow()
  await expect(openValue(await deriveKeys(secret(1), 'ben.example'), 'feed', sealed)).rejects.toThrow()
})

test('neither the sealed bytes nor the name tell what is in them, and the keys cannot be read out', async () => {
  const keys = await deriveKeys(secret(1), 'anna.example')
  const [one, other] = [
    await sealValue(keys, 'feed', 'Plum cake'),
    await sealValue(keys, 'feed', 'Plum cake'),
  ]
  expect(Buffer.from(one.bytes).toString('latin1')).not.toContain('Plum')
  expect(Buffer.from(one.bytes).equals(Buffer.from(other.bytes))).toBe(false)
  expect(await blindName(keys, 'feed')).toBe(await blindName(keys, 'feed'))
  expect(await blindName(keys, 'feed')).not.toBe(
    await blindName(await deriveKeys(secret(2), 'anna.example'), 'feed'),
  )
  await expect(crypto.subtle.exportKey('raw', keys.seal)).rejects.toThrow()
})
