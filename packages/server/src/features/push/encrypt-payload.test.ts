import { createECDH, randomBytes } from 'node:crypto'
import ece from 'http_ece'
import { expect, test } from 'vitest'
import { encryptPayload, maxEncryptedBytes, maxPayloadBytes } from './encrypt-payload.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

test('a payload is encrypted as in the example of RFC 8291, appendix A', () => {
  const keys = {
    p256dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  }
  const privateKey = bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw')
  const salt = bytes('DGv6ra1nlYgDCS1FRnbzlw')
  const payload = Buffer.from('When I grow up, I want to be a watermelon')
  expect(encryptPayload(payload, keys, { privateKey, salt }).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test('what an independent library decrypts is what was encrypted, up to the bound', () => {
  for (const length of [0, 1, 500, maxPayloadBytes]) {
    const browser = createECDH('prime256v1')
    const keys = { p256dh: browser.generateKeys(), auth: randomBytes(16) }
    const payload = randomBytes(length)
    const encrypted = encryptPayload(payload, keys)
    const authSecret = keys.auth.toString('base64url')
    expect(
      ece.decrypt(encrypted, { version: 'aes128gcm', privateKey: browser, authSecret }).equals(payload),
    ).toBe(true)
    expect(encrypted.length).toBeLessThanOrEqual(maxEncryptedBytes)
  }
  const keys = { p256dh: createECDH('prime256v1').generateKeys(), auth: randomBytes(16) }
  expect(() => encryptPayload(Buffer.alloc(maxPayloadBytes + 1), keys)).toThrow(RangeError)
  expect(encryptPayload(Buffer.of(1), keys).equals(encryptPayload(Buffer.of(1), keys))).toBe(false)
})
