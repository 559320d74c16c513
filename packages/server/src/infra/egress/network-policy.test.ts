import { describe, expect, test } from 'vitest'
import { EgressError } from './egress.ts'
import { checkedUrl, networkPolicy } from './network-policy.ts'

const strict = networkPolicy(false)
const lab = networkPolicy(true)

function refusalOf(url: string, policy = strict): string | undefined {
  try {
    checkedUrl(url, policy)
    return undefined
  } catch (error) {
    return error instanceof EgressError ? error.reason : String(error)
  }
}

describe('a public server', () => {
  test.each([
    'https://kith.example.com/api/inbox',
    'https://kith.example.com:8443/',
    'https://kith.example.com:444/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]:8443/',
    'https://bücher.example/',
  ])('may call %s', (url) => {
    expect(refusalOf(url)).toBeUndefined()
  })

  test.each([
    ['http://kith.example.com/', 'plain http'],
    ['ftp://kith.example.com/', 'another scheme'],
    ['file:///etc/passwd', 'a file'],
    ['unix:/run/docker.sock', 'a socket'],
    ['data:,x', 'no host'],
    ['javascript:alert(1)', 'a script'],
    ['//kith.example.com/', 'no scheme'],
    ['kith.example.com', 'no URL'],
    ['', 'nothing'],
    [`https://kith.example.com/${'x'.repeat(5000)}`, 'too long'],
    ['https://user@kith.example.com/', 'a user'],
    ['https://:secret@kith.example.com/', 'a password'],
    ['https://kith.example.com:0/', 'no port'],
    ['https://kith.example.com:22/', 'SSH'],
    ['https://kith.example.com:25/', 'SMTP'],
    ['https://kith.example.com:6667/', 'IRC'],
    ['https://kith.example.com:65536/', 'no port either'],
    ['https://kith.example.com./', 'the root label'],
    ['https://localhost./', 'loopback behind the root label'],
    ['https://127.0.0.1/', 'loopback'],
    ['https://127.1/', 'loopback, short'],
    ['https://0x7f.1/', 'loopback, hexadecimal'],
    ['https://2130706433/', 'loopback, one number'],
    ['https://0177.0.0.1/', 'loopback, octal'],
    ['https://127。0。0。1/', 'loopback, ideographic dots'],
    ['https://①②⑦.0.0.1/', 'loopback, enclosed digits'],
    ['https://[::1]/', 'loopback, IPv6'],
    ['https://[::ffff:127.0.0.1]/', 'loopback, mapped'],
    ['https://[::ffff:7f00:1]/', 'loopback, mapped in hexadecimal'],
    ['https://[64:ff9b::a00:1]/', 'private, translated'],
    ['https://[2002:a00:1::]/', 'private in 6to4'],
    ['https://169.254.169.254/latest/meta-data/', 'cloud metadata'],
    ['https://[fd00:ec2::254]/', 'cloud metadata, IPv6'],
    ['https://0/', 'this host'],
  ])('refuses %s (%s)', (url) => {
    expect(refusalOf(url)).toBe('refused')
  })
})

describe('a laboratory', () => {
  test.each(['http://127.0.0.1:8080/', 'http://alice.localhost:8080/', 'http://[::1]/', 'https://10.0.0.1/'])(
    'may call %s',
    (url) => {
      expect(refusalOf(url, lab)).toBeUndefined()
    },
  )

  test.each(['ftp://10.0.0.1/', 'http://user@10.0.0.1/', 'http://10.0.0.1:25/', 'http://box./'])(
    'refuses %s',
    (url) => {
      expect(refusalOf(url, lab)).toBe('refused')
    },
  )

  test('may be limited to ranges', () => {
    const oneNet = networkPolicy(['10.1.0.0/16'])
    expect(refusalOf('http://10.1.2.3/', oneNet)).toBeUndefined()
    expect(refusalOf('http://10.2.0.1/', oneNet)).toBe('refused')
    expect(refusalOf('http://127.0.0.1/', oneNet)).toBe('refused')
    expect(refusalOf('http://8.8.8.8/', oneNet)).toBeUndefined()
  })
})

test('the fragment is dropped', () => {
  expect(checkedUrl('https://kith.example.com/a?b=c#d', strict).href).toBe('https://kith.example.com/a?b=c')
})

test('what a name means inside is not in the message', () => {
  try {
    checkedUrl('https://[::ffff:10.0.0.1]/', strict)
    expect.unreachable()
  } catch (error) {
    expect((error as Error).message).not.toMatch(/private|10\.0/)
    expect(String((error as Error).cause)).toContain('IPv4-mapped')
  }
})
