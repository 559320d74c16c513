import { expect, test } from 'vitest'
import { isMediaPath } from './media-messages.ts'

test.each([
  '/api/files/f1~abc',
  '/api/files/variant/b1~abc',
  '/api/files/f1~abc/zip',
  '/api/files/zip',
  '/api/profiles/ben.example.com/image',
  '/api/profiles/ben.example.com/cover',
])('%s is a path of media', (path) => {
  expect(isMediaPath(path)).toBe(true)
})

test.each([
  '/api/files',
  '/api/files/f1~abc/metadata',
  '/api/files/a/b/zip',
  '/api/profiles/ben.example.com',
  '/api/auth/login-token',
  '/x/api/files/f1~abc',
])('%s is none', (path) => {
  expect(isMediaPath(path)).toBe(false)
})
