import { expect, test } from 'vitest'
import { recordText } from './record-text.ts'
import type { RecordData } from './records.ts'

const soa = {
  primary: 'ns1.names.example',
  mailbox: 'dns.example.org',
  serial: 2_026_112_301,
  refreshSecs: 300,
  retrySecs: 60,
  expireSecs: 1_209_600,
  negativeTtl: 60,
}

test.each<[RecordData, string]>([
  [{ type: 'A', data: '192.0.2.1' }, 'A 192.0.2.1'],
  [{ type: 'AAAA', data: '2001:db8::1' }, 'AAAA 2001:db8::1'],
  [{ type: 'NS', data: 'ns1.names.example' }, 'NS ns1.names.example.'],
  [{ type: 'CNAME', data: 'far.example' }, 'CNAME far.example.'],
  [{ type: 'TXT', data: 'v=1 server=https://a.example' }, 'TXT "v=1 server=https://a.example"'],
  [{ type: 'TXT', data: 'say "é\\"' }, 'TXT "say \\"\\195\\169\\\\\\""'],
  [{ type: 'TXT', data: '' }, 'TXT ""'],
  [{ type: 'TXT', data: 'x'.repeat(256) }, `TXT "${'x'.repeat(255)}" "x"`],
  [{ type: 'CAA', data: { flags: 0, tag: 'issue', value: 'ca.example' } }, 'CAA 0 issue "ca.example"'],
  [{ type: 'SOA', data: soa }, 'SOA ns1.names.example. dns.example.org. 2026112301 300 60 1209600 60'],
])('a line of %j', (data, text) => {
  expect(recordText({ ...data, name: 'a.names.example', ttl: 60 })).toBe(`a.names.example. 60 IN ${text}`)
})
