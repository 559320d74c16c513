import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownAddress } from '#harness/addresses.ts'
import { type DigAnswer, dig } from '#harness/dig.ts'
import { giveName, setSetting } from '#harness/served-names.ts'
import { ServerProcess } from '#harness/server-process.ts'
import { skipSuite } from '#harness/skip-suite.ts'

const apex = 'names.localhost'
const port = 5300
const primary = { host: ownAddress(1), port }
const secondary = { host: ownAddress(2), port }
const secret = Buffer.alloc(32, 7).toString('base64')

/** As the guide has it, with the ports and folders of a test. */
const configuration = (folder: string) => `
server:
  ip-address: ${secondary.host}@${secondary.port}
  username: ""
  # Without the records that nobody asked for.
  minimal-responses: yes
  zonesdir: "${folder}"
  zonelistfile: "${folder}/zone.list"
  xfrdfile: "${folder}/xfrd.state"
  xfrdir: "${folder}"
  database: ""
  pidfile: ""
  zonefiles-write: 1
remote-control:
  control-enable: no
key:
  name: kith-transfer
  algorithm: hmac-sha256
  secret: "${secret}"
zone:
  name: ${apex}
  zonefile: "${apex}.zone"
  request-xfr: AXFR ${primary.host}@${primary.port} kith-transfer
  allow-notify: ${primary.host} kith-transfer
  provide-xfr: 127.0.0.0/8 NOKEY
  outgoing-interface: ${secondary.host}
`

async function startNsd(folder: string): Promise<ChildProcess> {
  const file = join(folder, 'nsd.conf')
  await writeFile(file, configuration(folder))
  return spawn('nsd', ['-d', '-c', file], { stdio: 'ignore' })
}

/** What a program says of the zone that is saved from the secondary as the guide has it. */
function saveZone(folder: string): string {
  const from = [`@${secondary.host}`, '-p', String(secondary.port)]
  const saved = spawnSync('dig', ['+noall', '+answer', '+onesoa', ...from, apex, 'AXFR'])
  const file = join(folder, 'saved.zone')
  writeFileSync(file, saved.stdout)
  return spawnSync('nsd-checkzone', [apex, file], { encoding: 'utf8' }).stdout
}

const missing = ['nsd', 'dig'].filter((program) => spawnSync('which', [program]).status !== 0)
if (missing.length > 0) skipSuite('a secondary', `needs ${missing.join(' and ')}`)
else
  describe('a secondary, which is an NSD', () => {
    let folder: string
    let server: ServerProcess
    let nsd: ChildProcess
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'kith-nsd-'))
      server = await startServer()
      await put('idp.enabled', true)
      await put('dns.transfer_networks', [secondary.host])
      await put('dns.transfer_key', `hmac-sha256:kith-transfer:${secret}`)
      await put('dns.notify', [`${secondary.host}@${secondary.port}`])
      await put('dns.name_servers', [`ns1.${apex} ${primary.host}`, `ns2.${apex} ${secondary.host}`])
      nsd = await startNsd(folder)
    })
    afterAll(async () => {
      await server?.kill()
      if (nsd?.kill()) await once(nsd, 'exit')
      await rm(folder, { recursive: true, force: true })
    })

    const startServer = () =>
      ServerProcess.start({
        idTag: apex,
        dataDir: join(folder, 'data'),
        env: { DNS_LISTEN: `${primary.host}:${primary.port}`, LOCAL_ADDRESSES: '198.51.100.1,2001:db8::1' },
      })

    const put = (setting: string, value: unknown) => setSetting(server, setting, value)
    const give = (label: string, address: string) => giveName(server, label, address)

    const ask = async (where: typeof primary, ...asked: string[]) => {
      const answer = await dig({ program: 'dig', server: where }, '+time=1', ...asked).catch(() => undefined)
      return answer ?? { status: 'silent', flags: '', answer: [], authority: [] }
    }
    const addressAt = async (where: typeof primary, label: string) =>
      (await ask(where, `${label}.${apex}`, 'A')).answer
    const serialAt = async (where: typeof primary) =>
      Number((await ask(where, apex, 'SOA')).answer[0]?.split(' ')[6])

    test('fetches the zone, and answers as the server does', async () => {
      await give('alice', '198.51.100.7')
      await give('bob', `alice.${apex}`)
      await give('carol', 'server.example.net')
      await give('gina.west', '2001:db8::7')
      await expect
        .poll(() => addressAt(secondary, 'gina.west'))
        .toEqual(await addressAt(primary, 'gina.west'))
      await expect.poll(() => serialAt(secondary)).toBe(await serialAt(primary))
      const shown = ({
        status,
        flags,
        answer,
        authority,
      }: Pick<DigAnswer, 'status' | 'flags' | 'answer' | 'authority'>) => ({
        status,
        flags,
        answer,
        authority,
      })
      const labels = [
        'alice',
        'bob',
        'carol',
        'gina.west',
        'west',
        'nobody',
        'x.alice',
        '_service.alice',
        'ns1',
        'ns2',
        '_service',
      ]
      for (const name of [apex, ...labels.map((label) => `${label}.${apex}`)])
        for (const type of ['A', 'AAAA', 'TXT', 'CNAME', 'SOA', 'NS', 'CAA', 'MX'])
          expect([name, type, shown(await ask(primary, name, type))]).toEqual([
            name,
            type,
            shown(await ask(secondary, name, type)),
          ])
    })

    test('goes on when the server is gone, and learns of a new name when it is back', async () => {
      const before = await serialAt(secondary)
      await server.kill()
      expect((await ask(primary, apex, 'SOA')).status).toBe('silent')
      expect(await addressAt(secondary, 'alice')).toEqual([`alice.${apex}. 3600 IN A 198.51.100.7`])
      await expect.poll(() => existsSync(join(folder, `${apex}.zone`))).toBe(true)
      expect(nsd.kill('SIGTERM')).toBe(true)
      await once(nsd, 'exit')
      nsd = await startNsd(folder)
      await expect
        .poll(() => addressAt(secondary, 'alice'))
        .toEqual([`alice.${apex}. 3600 IN A 198.51.100.7`])
      expect(saveZone(folder)).toBe(`zone ${apex} is ok\n`)
      server = await startServer()
      await give('dora', '198.51.100.8')
      await expect.poll(() => addressAt(secondary, 'dora')).toEqual([`dora.${apex}. 3600 IN A 198.51.100.8`])
      expect(await serialAt(secondary)).toBeGreaterThan(before)
      expect(await serialAt(secondary)).toBe(await serialAt(primary))
    })
  })
