import {
  activateIdentity,
  checkAvailability,
  createAction,
  createManagedIdentity,
  createReference,
  type IdTag,
  listActions,
  type NewAction,
  putSetting,
  registerAccount,
} from '@kith/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { ownAddress } from '#harness/addresses.ts'
import { askUdp } from '#harness/dns-client.ts'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'

const provider = 'names.example'

test('three servers find each other by the DNS of one, from the question for a name to a delivered post', async () => {
  const clock = new TestClock()
  const dns = { host: ownAddress(), port: 1053 }
  // The same port for all, since their names have addresses of their own.
  const httpPort = 1080
  const start = async (baseIdTag: string, address: string, env: Record<string, string> = {}) => {
    const server = await TestServer.start({
      baseIdTag,
      clock,
      env: {
        LISTEN: `${address}:${httpPort}`,
        LOCAL_ADDRESSES: address,
        DNS_SERVERS: `${dns.host}:${dns.port}`,
        ALLOW_PRIVATE_NETWORK: 'true',
        ...env,
      },
    })
    onTestFinished(() => server.stop())
    return server
  }
  const names = await start(provider, ownAddress(), { DNS_LISTEN: `${dns.host}:${dns.port}` })
  const two = await start(`two.${provider}`, ownAddress(1))
  const three = await start(`three.${provider}`, ownAddress(2))
  const settle = async () => {
    for (let round = 0; round < 3; round += 1) for (const server of [names, two, three]) await server.settle()
  }

  const owner = await names.as(provider)
  const set = (name: string, value: unknown) => owner.call(putSetting, { params: { name }, body: { value } })
  await set('idp.enabled', true)
  await set('idp.server_url', `http://{idTag}:${httpPort}`)
  const activate = async (email: string) => {
    await settle()
    const mails = await readMails(names.running.services.config.mail.directory)
    const mail = mails.findLast(({ to }) => to === email)
    if (!mail) throw new Error(`nothing was mailed to ${email}`)
    const refId = new URL(linkIn(mail)).hash.slice('#token='.length)
    await names.client(provider).call(activateIdentity, { body: { refId } })
  }

  // The names of the two servers themselves.
  for (const [server, address] of [
    [two, ownAddress(1)],
    [three, ownAddress(2)],
  ] as const) {
    const email = `keeper@${server.baseIdTag}`
    await owner.call(createManagedIdentity, { body: { idTag: server.baseIdTag, email, address } })
    await activate(email)
  }

  // A person on each of them asks for a name, gets it from the provider, and has an account.
  const join = async (server: TestServer, label: string) => {
    const idTag = `${label}.${provider}` as IdTag
    const asked = await names.client(provider).call(checkAvailability, { query: { idTag } })
    expect(asked.data.available).toBe(true)
    expect(await askUdp(dns, idTag, 'A')).toMatchObject({ rcode: 'NXDOMAIN' })
    const admin = await server.as(server.baseIdTag)
    const { data: invitation } = await admin.call(createReference, { body: { type: 'invite', count: 1 } })
    const email = `${label}@example.org`
    const body = { type: 'idp', idTag, email, token: invitation.refId } as const
    await server.client(server.baseIdTag).call(registerAccount, { body })
    await activate(email)
    expect(await askUdp(dns, idTag, 'A')).toMatchObject({ rcode: 'NOERROR', answers: [expect.anything()] })
    return { idTag, client: await server.as(idTag) }
  }
  const alice = await join(two, 'alice')
  const carol = await join(three, 'carol')

  const act = async ({ client }: typeof alice, body: NewAction) => {
    clock.advance(1000)
    const { data } = await client.call(createAction, { body })
    await settle()
    return data.actionId
  }
  await act(carol, { type: 'FLLW', audienceTag: alice.idTag })
  const posted = await act(alice, { type: 'POST', content: { text: 'Hello' }, visibility: 'F' })
  const { data } = await carol.client.call(listActions, { query: { type: ['POST'] } })
  expect(data).toEqual([expect.objectContaining({ actionId: posted, status: 'A' })])
})
