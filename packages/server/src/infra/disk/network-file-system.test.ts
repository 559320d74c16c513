import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { findNetworkFileSystem } from './index.ts'

test('a network file system is known by its number, also where that arrives as a negative one', async () => {
  const found = [0x6969, 0xff534d42, 0xff534d42 | 0, 0xef53].map((type) =>
    findNetworkFileSystem('/srv', async () => type),
  )
  expect(await Promise.all(found)).toEqual(['NFS', 'CIFS', 'CIFS', undefined])
})

test('a folder of this machine is on none', async () => {
  expect(await findNetworkFileSystem(tmpdir())).toBeUndefined()
})
