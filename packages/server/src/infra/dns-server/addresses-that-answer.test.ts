import { expect, test } from 'vitest'
import { readConfig } from '#infra/config/index.ts'
import { addressesThatAnswer } from './addresses-that-answer.ts'

const both = ['198.51.100.7', '2001:db8::7']

test.each([
  ['', both, both],
  ['10.0.0.7:53', both, ['198.51.100.7']],
  ['0.0.0.0:53', both, ['198.51.100.7']],
  ['[fd00::7]:53', both, ['2001:db8::7']],
  ['[::ffff:10.0.0.7]:53', both, ['198.51.100.7']],
  ['10.0.0.7:53,[fd00::7]:53', both, both],
  ['[::]:53', both, both],
  ['[0:0::0]:53', both, both],
  ['localhost:53', both, both],
  ['[fd00::7]:53', ['198.51.100.7'], ['198.51.100.7']],
  ['10.0.0.7:53', [...both, 'host.example'], ['198.51.100.7', 'host.example']],
  ['10.0.0.7:53', ['host.example'], ['host.example']],
])('with DNS at "%s", name servers have of %j the addresses %j', (listen, own, expected) => {
  const { federation } = readConfig({ DNS_LISTEN: listen, LOCAL_ADDRESSES: own.join(',') })
  expect(addressesThatAnswer(federation.localAddresses, federation.dnsListen)).toEqual(expected)
})
