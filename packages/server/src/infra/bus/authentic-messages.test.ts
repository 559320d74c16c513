import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openVault } from '#infra/keys/index.ts'
import { openAuthenticMessages } from './authentic-messages.ts'

const messages = (byte: number) =>
  openAuthenticMessages(openVault({ masterKey: createSecretKey(Buffer.alloc(32, byte)) }))
const ours = messages(7)
const sent = { node: 'node_1-a', message: '{"seq":1}\nand more' }

test('a message is read by every process with the master key, from the channel that it was written to', () => {
  expect(messages(7).read('tenant:1', ours.write('tenant:1', sent))).toEqual(sent)
})

test('nobody else says anything, and nothing is moved to another channel or process', () => {
  const text = ours.write('tenant:1', sent)
  for (const forged of [
    messages(8).write('tenant:1', sent),
    ours.write('tenant:11', sent),
    text.replace('"seq":1', '"seq":2'),
    text.replace('node_1-a', 'node_1-b'),
    `node_1-a ${sent.message}`,
    text.slice(0, 42),
    `${randomBytes(32).toString('base64url')} node_1-a ${sent.message}`,
    `${'-'.repeat(43)} node_1-a {}`,
    '',
    'not even JSON',
  ])
    expect(ours.read('tenant:1', forged)).toBeUndefined()
})
