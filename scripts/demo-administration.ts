import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { WebSocket } from 'ws'
import { eventually, kith, type Owned, password, request, step, until } from './demo-stage.ts'

/** A second administrator, who lives on another server, suspends somebody who is connected, and removes her with everything
 * that is hers. */
export async function administer(alice: Owned, bob: Owned): Promise<void> {
  console.log('\nAdministration')
  const { token, url } = alice
  const profile = `${url}/api/admin/profiles/${bob.idTag}`
  await step('alice appoints bob, who lives elsewhere', 'PATCH', profile, {
    token,
    json: { roles: ['user', 'SADM'] },
  })
  const asked = `${bob.url}/api/auth/proxy-token?target=${alice.idTag}`
  const { data: proof } = await step('bob asks his server for a proof of who he is', 'GET', asked, {
    token: bob.token,
  })
  const second = { idTag: bob.idTag, url, token: String(proof.token) }
  await step('and sets who may register', 'PUT', `${url}/api/settings/server.registration?scope=global`, {
    token: second.token,
    json: { value: 'invite' },
  })
  const guest = `guest.${alice.idTag}`
  await command(alice, ['tenant', 'create', guest, '--password', password, '--email', 'guest@example.org'])
  const visitor = await connect(alice, guest)
  await suspend(second, guest, visitor)
  await purge(second, guest)
  await lookAround(second, alice)
}

type Administrator = Pick<Owned, 'idTag' | 'url' | 'token'>

/** What an operator types on the machine of the server, beside it. */
async function command({ dataDir, idTag }: Owned, words: readonly string[]): Promise<void> {
  const [program, ...first] = kith
  const env = { PATH: process.env.PATH, BASE_ID_TAG: idTag, DATA_DIR: dataDir, NODE_NO_WARNINGS: '1' }
  const { stdout } = await promisify(execFile)(program, [...first, ...words], { env })
  const shown = words.map((word) => (word === password ? '…' : word)).join(' ')
  console.log(`the operator types\n    kith ${shown}\n    ${stdout.trim()}`)
}

interface Connected {
  readonly token: string
  readonly url: string
  /** The code with which the server has ended the socket. */
  readonly closed: Promise<number>
}

/** The guest signs in, and listens on the bus. */
async function connect(alice: Owned, guest: string): Promise<Connected> {
  const url = alice.url.replace(alice.idTag, guest)
  const { data } = await step('a guest signs in', 'POST', `${url}/api/auth/login`, {
    json: { idTag: guest, password },
  })
  const token = String(data.token)
  const { port } = new URL(url)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/bus?token=${token}`, {
    headers: { host: new URL(url).host },
  })
  await once(socket, 'open')
  console.log(`and is connected\n    ${url}/ws/bus`)
  const closed = once(socket, 'close').then(([code]) => Number(code))
  return { token, url, closed }
}

async function suspend(admin: Administrator, guest: string, visitor: Connected): Promise<void> {
  const startedAt = performance.now()
  await step('bob suspends the guest', 'POST', `${admin.url}/api/admin/tenants/${guest}/suspend`, {
    token: admin.token,
  })
  const code = await visitor.closed
  const tookMs = performance.now() - startedAt
  console.log(`the guest’s connection ends\n    ${code} after ${tookMs.toFixed(0)} ms`)
  strictEqual(code, 1008)
  ok(tookMs < 5_000, 'within five seconds')
  const refused = async () =>
    (await request('GET', `${visitor.url}/api/me`, { token: visitor.token })).status === 404
  await until('and the guest’s token is worth nothing', refused)
}

async function purge(admin: Administrator, guest: string): Promise<void> {
  const { token } = admin
  const tenants = `${admin.url}/api/admin/tenants`
  const asked = await step('bob asks what a removal would remove', 'POST', `${tenants}/${guest}/purge`, {
    token,
  })
  strictEqual(asked.data.isBegun, false)
  const json = { confirm: String(asked.data.confirm) }
  await step('and confirms it', 'POST', `${tenants}/${guest}/purge`, { token, json })
  const isGone = (data: unknown) => (data as unknown[]).length === 0
  await eventually('the guest is gone', `${tenants}?q=guest`, token, isGone)
}

async function lookAround({ url, token, idTag }: Administrator, owner: Owned): Promise<void> {
  await step('a test mail is sent', 'POST', `${url}/api/admin/email/test`, {
    token,
    json: { to: 'alice@example.org' },
  })
  const statistics = await step('the server is looked at', 'GET', `${url}/api/admin/stats`, { token })
  const { version, people, actions, sockets, storage } = statistics.data
  console.log(`    ${JSON.stringify({ version, people, actions, sockets, storage })}`)
  const jobs = await step('nothing was given up', 'GET', `${url}/api/admin/jobs`, { token })
  deepStrictEqual(jobs.data, [])
  const trail = await step('and alice reads in the trail who did it', 'GET', `${url}/api/audit?limit=50`, {
    token: owner.token,
  })
  const entries = trail.data as unknown as { event: string; actorTag?: string }[]
  const begun = entries.find(({ event }) => event === 'tenant.purge-begun')
  strictEqual(begun?.actorTag, idTag)
}
