import { expect, test } from 'vitest'
import { canonicalMailbox, parseMailAddress, parseMailbox } from './mail-address.ts'

test.each([
  ['alice@example.com', 'alice@example.com'],
  ["o'brien+kith@Example.COM", "o'brien+kith@example.com"],
  ['a.b.c@mail.example.co.uk', 'a.b.c@mail.example.co.uk'],
  ['alice@bücher.example', 'alice@xn--bcher-kva.example'],
  ['root@localhost', 'root@localhost'],
])('takes %s', (text, address) => {
  expect(parseMailAddress(text)).toBe(address)
})

test.each([
  ['nothing', ''],
  ['no domain', 'alice@'],
  ['no local part', '@example.com'],
  ['a bare word', 'alice'],
  ['two addresses', 'alice@example.com,bob@example.com'],
  ['two addresses with a space', 'alice@example.com bob@example.com'],
  ['two at signs', 'alice@evil.example@example.com'],
  ['a line break', 'alice@example.com\r\nBcc: bob@example.com'],
  ['a line break in the local part', 'alice\r\n@example.com'],
  ['a name', 'Alice <alice@example.com>'],
  ['a comment', 'alice(comment)@example.com'],
  ['a quoted local part', '"alice bob"@example.com'],
  ['a quoted address inside', '"bob@evil.example>"@example.com'],
  ['a group', 'friends: alice@example.com;'],
  ['an address literal', 'alice@[127.0.0.1]'],
  ['a host number', 'alice@127.0.0.1'],
  ['dots at the edge', '.alice@example.com'],
  ['two dots', 'al..ice@example.com'],
  ['U-labels in the local part', 'älice@example.com'],
  ['an encoded word', '=?utf-8?q?x?=@example.com'],
  ['a NUL', 'alice\0@example.com'],
  ['a local part of 65 characters', `${'a'.repeat(65)}@example.com`],
  ['255 characters', `alice@${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`],
])('refuses %s', (_, text) => {
  expect(parseMailAddress(text)).toBeUndefined()
})

test.each([
  ['kith@example.com', { name: undefined, address: 'kith@example.com' }],
  ['Kith at home <kith@example.com>', { name: 'Kith at home', address: 'kith@example.com' }],
  ['<kith@example.com>', { name: undefined, address: 'kith@example.com' }],
  ['Kíth, Ltd. <kith@example.com>', { name: 'Kíth, Ltd.', address: 'kith@example.com' }],
])('takes the mailbox %s', (text, mailbox) => {
  expect(parseMailbox(text)).toEqual(mailbox)
})

test.each([
  'Kith <kith@example.com> <bob@example.com>',
  'Kith\r\nBcc: bob@example.com <kith@example.com>',
  '"Kith" <kith@example.com>',
  'Kith <kith@example.com',
  'Kith',
])('refuses the mailbox %j', (text) => {
  expect(parseMailbox(text)).toBeUndefined()
})

test.each([
  ['alice@example.com', 'alice@example.com'],
  ['Alice@example.com', 'alice@example.com'],
  ['al.ice@example.com', 'alice@example.com'],
  ['alice+one@example.com', 'alice@example.com'],
  ['A.lice+o.n+e@example.com', 'alice@example.com'],
  ['alice@googlemail.com', 'alice@gmail.com'],
  ['alice-one@example.com', 'alice-one@example.com'],
  ['+one@example.com', '@example.com'],
])('the mailbox of %s', (address, mailbox) => {
  expect(canonicalMailbox(address)).toBe(mailbox)
})
