import { expect, test } from 'vitest'
import { isOfFileTypes } from './app-file-types.ts'

test.each([
  ['text/plain', true],
  ['text/markdown', true],
  ['text/*', true],
  ['image/png', true],
  ['image/jpeg', false],
  ['image/*', false],
  ['application/pdf', true],
  ['application/*', true],
  ['application/vnd.kith.app.com.example.notes', false],
  ['application/vnd.kith.app.com.example.poll', true],
  ['textual/plain', false],
  ['', false],
])('%s is of the file types: %s', (type, isOf) => {
  const types = ['text/*', 'image/png', 'application/*', 'application/vnd.kith.app.com.example.poll']
  expect(isOfFileTypes(types, type)).toBe(isOf)
})

test('no type is of none', () => {
  expect(isOfFileTypes([], 'text/plain')).toBe(false)
})
