import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { deleteManagedIdentity, putSetting, updateManagedIdentity } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DigAnswer, dig } from '#harness/dig.ts'
import { repository } from '#harness/guide.ts'
import { NameProvider } from '#harness/name-provider.ts'
import { skipSuite } from '#harness/skip-suite.ts'

const page = 'docs/protocol/name-server.md'
const apex = 'names.example'

/** The rows of the table below a heading of the page, each with its cells by column. */
function readTable(heading: string): Record<string, string>[] {
  const text = readFileSync(resolve(repository, page), 'utf8')
  const [, section = ''] = text.split(`\n## ${heading}\n`)
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
  const [head = [], ...rows] = lines.map((line) => line.split('|').slice(1, -1).map(plain))
  return rows.map((cells) => Object.fromEntries(head.map((column, at) => [column, cells[at] ?? ''])))
}

function plain(cell: string): string {
  return cell.trim().replaceAll('`', '')
}

const recordsOf = (cell = '') => cell.split('<br>').filter(Boolean)

function soaOf(zone: string): string {
  return `${zone}. 60 IN SOA ns1.${zone}. hostmaster.${zone}. SERIAL 300 60 1209600 60`
}

/** A server with the names of the page. */
async function startNames(): Promise<NameProvider> {
  const env = { DNS_LISTEN: '127.0.0.1:0', LOCAL_ADDRESSES: '198.51.100.1,2001:db8::1' }
  const names = await NameProvider.start(env, apex)
  const owner = await names.owner()
  await names.registerActive('alice', { address: '198.51.100.7' })
  await names.registerActive('bob', { address: `alice.${apex}` })
  await names.registerActive('carol', { address: 'server.example.net' })
  await names.registerActive('lost', { address: `nobody.${apex}` })
  await names.registerActive('dora', { address: '2001:db8::7' })
  await owner.call(updateManagedIdentity, { params: { id: 'dora' }, body: { dyndns: true } })
  await names.registerActive('gina.west', { address: '198.51.100.8' })
  await names.registerActive('noaddress')
  await names.register('pending', { address: '198.51.100.9' })
  await names.registerActive('suspended', { address: '198.51.100.9' })
  await owner.call(updateManagedIdentity, { params: { id: 'suspended' }, body: { status: 'suspended' } })
  await names.registerActive('released', { address: '198.51.100.9' })
  await owner.call(deleteManagedIdentity, { params: { id: 'released' } })
  await names.server.createTenant(`club.${apex}`)
  await names.server.createTenant(`team.${apex}`)
  const team = await names.server.as(`team.${apex}`)
  await team.call(putSetting, { params: { name: 'idp.enabled' }, body: { value: true } })
  await setCaa(names, ['0 issue ca.example'])
  return names
}

async function setCaa({ server }: NameProvider, value: readonly string[]): Promise<void> {
  const admin = await server.as(server.baseIdTag)
  await admin.call(putSetting, { params: { name: 'dns.caa' }, body: { value } })
}

const missing = ['dig', 'kdig'].filter((program) => spawnSync('which', [program]).status !== 0)
if (missing.length > 0) skipSuite(`the answers of ${page}`, `needs ${missing.join(' and ')}`)
else
  describe(`the answers of ${page}`, () => {
    let names: NameProvider
    let server: { readonly host: string; readonly port: number }
    beforeAll(async () => {
      names = await startNames()
      if (!names.server.running.dns) throw new Error('nothing answers DNS')
      server = names.server.running.dns
    })
    afterAll(() => names?.[Symbol.asyncDispose]())

    /** What of a record differs from one run to the next, as the page has it. */
    const asWritten = (record: string) =>
      [apex, `club.${apex}`]
        .reduce(
          (text, tenant) => text.replace(`${names.server.urlOf(tenant)}"`, `https://${tenant}"`),
          record,
        )
        .replace(/^(\S+ 60 IN SOA \S+ \S+) \d+ /, '$1 SERIAL ')
        .replace(/^(\S+) 60 IN SOA .*/, (whole, zone: string) =>
          whole === soaOf(apex)
            ? 'SOA'
            : whole === soaOf(`team.${apex}`)
              ? 'SOA of team'
              : `${zone}: ${whole}`,
        )
    const shown = ({ status, flags, answer, authority, additional }: DigAnswer) => ({
      status,
      flags,
      answer: answer.map(asWritten),
      authority: authority.map(asWritten),
      additional,
    })

    test.each(readTable('Questions').map((row) => ({ ...row, question: row.Question ?? '' })))(
      'to $question',
      async ({ question, ...row }: Record<string, string>) => {
        const asked = question?.split(' ') ?? []
        const expected = {
          status: row.Status,
          flags: row.Flags,
          answer: recordsOf(row.Answer),
          authority: recordsOf(row.Authority),
          additional: [],
        }
        for (const program of ['dig', 'kdig'] as const)
          for (const transport of ['+notcp', '+tcp'])
            expect([program, transport, shown(await dig({ program, server }, ...asked, transport))]).toEqual([
              program,
              transport,
              expected,
            ])
      },
    )

    test.each(readTable('Headers and EDNS').map((row) => ({ ...row, question: row.Question ?? '' })))(
      'to $question',
      async ({ question, ...row }: Record<string, string>) => {
        const expected = {
          status: row.Status,
          flags: row.Flags,
          edns: row.EDNS,
          answer: recordsOf(row.Answer),
        }
        for (const transport of ['+notcp', '+tcp']) {
          const given = await dig({ program: 'dig', server }, transport, ...(row.Question?.split(' ') ?? []))
          const { status, flags, edns, answer } = given
          expect({ status, flags, edns, answer }).toEqual(expected)
        }
      },
    )

    test.each(readTable('Cookies').map((row) => ({ ...row, question: row.Question ?? '' })))(
      'to $question',
      async ({ question, ...row }: Record<string, string>) => {
        const asked = question?.split(' ') ?? []
        const shownOf = async (transport: string) => {
          const { status, flags, cookie } = await dig({ program: 'dig', server }, transport, ...asked)
          return { status, flags, cookie }
        }
        const expected = { status: row.Status, flags: row.Flags }
        expect(await shownOf('+notcp')).toEqual({ ...expected, cookie: row['Over UDP'] })
        expect(await shownOf('+tcp')).toEqual({ ...expected, cookie: row['Over TCP'] })
      },
    )

    test('are sent to TCP when they are too long, and come whole there', async () => {
      await setCaa(
        names,
        Array.from({ length: 10 }, (_, at) => `0 issue ca${at}.example; accounturi=${'x'.repeat(150)}`),
      )
      for (const program of ['dig', 'kdig'] as const) {
        const ask = (...how: string[]) => dig({ program, server }, ...how, apex, 'CAA')
        expect(await ask('+bufsize=4096')).toMatchObject({ flags: 'qr aa tc', answer: [], authority: [] })
        expect((await ask('+tcp')).answer).toHaveLength(10)
      }
    })
  })
