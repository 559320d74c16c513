import { expect, test } from 'vitest'
import { pageAddress } from './page-address.ts'

test.each([
  ['garden.localhost', 'http://home.localhost:18180/', 'http://garden.localhost:18180/'],
  ['garden.example.org', 'https://anna.example.org/', 'https://garden.example.org/'],
  ['garden.example.org', 'https://anna.example.org:8443/', 'https://garden.example.org:8443/'],
  ['garden.example.com', 'http://home.localhost:18180/', 'https://garden.example.com/'],
])('the page of %s, seen from %s, is %s', (idTag, here, address) => {
  expect(pageAddress(idTag, new URL(here))).toBe(address)
})
