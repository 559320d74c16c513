import { expect, test } from 'vitest'
import { isBackendAddress, lookupBackend } from './backend-lookup.ts'

// The system answers a literal with itself, as it answers a name with what the DNS says.
const found = (name: string, all: boolean) =>
  new Promise((resolve) =>
    lookupBackend(name, { all }, (error, address) => resolve(error?.message ?? address)),
  )

test('a name leads to no address that no backend has', async () => {
  expect(await found('10.0.0.5', false)).toBe('10.0.0.5')
  expect(await found('10.0.0.5', true)).toEqual([{ address: '10.0.0.5', family: 4 }])
  for (const address of ['169.254.169.254', 'fd00:ec2::254', 'fe80::1'])
    expect(await found(address, true)).toBe(`${address} has an address that no backend may have`)
})

test('a translated address is as good as the one that it leads to', () => {
  expect(isBackendAddress('64:ff9b::10.0.0.5')).toBe(true)
  expect(isBackendAddress('64:ff9b::169.254.169.254')).toBe(false)
})
