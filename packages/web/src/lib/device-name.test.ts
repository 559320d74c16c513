import { expect, test } from 'vitest'
import { deviceOf } from './device-name.ts'

const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0'
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0'

test.each([
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${safari} Safari/605.1.15`, 'Safari', 'macOS'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${safari} Mobile Safari/604.1`,
    'Safari',
    'iPhone',
  ],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/140.0.0.0`, 'Edge', 'Windows'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`, 'Chrome', 'Android'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox', 'Linux'],
  ['kith-cli/1.0 (Linux)', 'kith-cli/1.0 (Linux)', undefined],
])('%s is %s on %s', (userAgent, program, system) => {
  expect(deviceOf(userAgent)).toEqual({ program, ...(system ? { system } : {}) })
})
