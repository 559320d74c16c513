/** What a server is besides its people, in front of the reader: notifications, sites of other programs, names with their DNS,
 * apps, administration. Exits with 0 only if every step held. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { ownAddress } from '../packages/server/test/harness/addresses.ts'
import { CuttableLink } from '../packages/server/test/harness/cuttable-link.ts'
import { linkIn } from '../packages/server/test/harness/mail-files.ts'
import { administer } from './demo-administration.ts'
import { tokenIn } from './demo-guest.ts'
import { awaitMail } from './demo-mail.ts'
import { notify } from './demo-push.ts'
import { kith, type Owned, perform, request, root, type Server, say, signIn, step } from './demo-stage.ts'

/** A wiki beside the server gets a domain of its own. */
async function proxy(alice: Owned): Promise<void> {
  console.log('\nA site of another program')
  const backend = createServer((asked, answer) =>
    answer.end(`the wiki was asked for ${asked.url} of ${asked.headers['x-forwarded-host']}`),
  ).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const { port } = backend.address() as AddressInfo
  const { data } = await step(
    'alice puts a wiki behind her server',
    'POST',
    `${alice.url}/api/admin/proxy-sites`,
    {
      token: alice.token,
      json: { domain: 'wiki.localhost', backendUrl: `http://127.0.0.1:${port}` },
    },
  )
  const site = alice.url.replace(alice.idTag, 'wiki.localhost')
  const page = await step('somebody opens it', 'GET', `${site}/Home?page=2`)
  const text = new TextDecoder().decode(page.bytes)
  console.log(`    ${text}`)
  ok(text.startsWith('the wiki was asked for /Home?page=2 of wiki.localhost'))
  backend.closeAllConnections()
  backend.close()
  await once(backend, 'close')
  const away = await request('GET', site)
  say('the wiki is down', `GET ${site}`, away.status, away.tookMs)
  strictEqual(away.status, 502)
  await step('alice removes the site', 'DELETE', `${alice.url}/api/admin/proxy-sites/${data.siteId}`, {
    token: alice.token,
  })
}

/** Alice gives a name to a shop; the name is in the DNS as soon as its owner has activated it. */
async function name(alice: Owned, dnsAddress: string): Promise<void> {
  console.log('\nA name for somebody else')
  const { token, url } = alice
  const set = (setting: string, value: unknown) =>
    step(`alice sets ${setting}`, 'PUT', `${url}/api/settings/${setting}`, { token, json: { value } })
  await set('idp.enabled', true)
  const idTag = `shop.${alice.idTag}`
  const { data } = await step('is the name free?', 'GET', `${url}/api/idp/check-availability?idTag=${idTag}`)
  strictEqual(data.available, true)
  const resolver = new Resolver()
  resolver.setServers([dnsAddress])
  const resolve = () => resolver.resolve4(idTag).catch((error: NodeJS.ErrnoException) => error.code)
  deepStrictEqual(await resolve(), 'ENOTFOUND')
  await step('alice registers it', 'POST', `${url}/api/idp/identities`, {
    token,
    json: { idTag, email: 'shop@example.org', address: '192.0.2.7' },
  })
  const mail = await awaitMail(alice, 'shop@example.org', /.*/)
  await step('its owner activates it', 'POST', `${url}/api/idp/activate`, {
    json: { refId: tokenIn(linkIn(mail)) },
  })
  const found = await resolve()
  console.log(`the DNS of alice’s server answers\n    ${idTag} A ${found}`)
  deepStrictEqual(found, ['192.0.2.7'])
}

/** An app is packed, offered and installed by the command line, and served in a sandbox. */
async function offerApp(alice: Owned): Promise<void> {
  console.log('\nAn app')
  const { token, url } = alice
  const folder = new URL('examples/todo', root).pathname
  const words = ['app', 'publish', folder, '--server', url, '--install', '--json']
  const [program, ...first] = kith
  const { stdout } = await promisify(execFile)(program, [...first, ...words], {
    env: { ...process.env, KITH_TOKEN: token, NODE_NO_WARNINGS: '1' },
  })
  console.log(`alice publishes and installs the example\n    kith ${words.join(' ')}\n    ${stdout.trim()}`)
  const offered = await step('it is in the catalogue', 'GET', `${url}/api/apps`, { token })
  ok(Array.isArray(offered.data) && offered.data.length === 1)
  const installed = await step('and installed', 'GET', `${url}/api/apps/installed`, { token })
  const [app] = installed.data as unknown as { fileId: string; entry: string }[]
  const page = await step(
    'a frame loads its page without a token',
    'GET',
    `${url}/api/files/${app?.fileId}/content/${app?.entry}`,
  )
  const policy = String(page.headers.get('content-security-policy'))
  console.log(`    ${policy.split('; ').slice(0, 2).join('; ')}; …`)
  ok(policy.startsWith('sandbox '))
}

await perform(async (start) => {
  await using toAlice = await CuttableLink.open()
  await using toBob = await CuttableLink.open()
  const dnsAddress = `${ownAddress()}:1053`
  const at = (name: string, { port }: CuttableLink) => `${name}.localhost=http://${name}.localhost:${port}`
  const own = async (server: Server): Promise<Owned> => ({ ...server, token: await signIn(server) })
  const alice = await own(
    await start({
      idTag: 'alice.localhost',
      link: toAlice,
      peers: at('bob', toBob),
      env: { DNS_LISTEN: dnsAddress },
    }),
  )
  const bob = await own(await start({ idTag: 'bob.localhost', link: toBob, peers: at('alice', toAlice) }))
  await notify(alice, bob)
  await proxy(alice)
  await name(alice, dnsAddress)
  await offerApp(alice)
  await administer(alice, bob)
})
