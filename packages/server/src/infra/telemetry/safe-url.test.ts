import { expect, test } from 'vitest'
import { safeUrl } from './index.ts'

test.each([
  ['/api/actions?limit=20&type=POST', '/api/actions?limit=20&type=POST'],
  ['/api/me', '/api/me'],
  ['/api/auth/access-token?apiKey=sk_x&refresh=true', '/api/auth/access-token?apiKey=[hidden]&refresh=true'],
  ['/api/auth/access-token?ref=abc&refId=def', '/api/auth/access-token?ref=[hidden]&refId=[hidden]'],
  ['/ws/bus?token=abc', '/ws/bus?token=[hidden]'],
  ['/ws/bus?TOKEN=abc', '/ws/bus?TOKEN=[hidden]'],
  ['/ws/bus?%74oken=abc', '/ws/bus?%74oken=[hidden]'],
  ['/ws/bus?x=1&token', '/ws/bus?x=1&token=[hidden]'],
  ['/ws/bus?a?token=abc', '/ws/bus?a?token=[hidden]'],
  ['/api/refs/abcdefghijklmnopqrstuvwx', '/api/refs/[hidden]'],
  ['https://user:pass@host.example/x?token=abc', 'https://[hidden]@host.example/x?token=[hidden]'],
  ['/x?%zz=1', '/x?%zz=1'],
])('%s is logged as %s', (url, safe) => {
  expect(safeUrl(url)).toBe(safe)
})

test('an endless address is cut', () => {
  expect(safeUrl(`/${'x'.repeat(50_000)}`)).toHaveLength(2001)
  expect(safeUrl(`/?${'x'.repeat(50_000)}`).length).toBeLessThan(2010)
})
