import {
  activateIdentity,
  createManagedIdentity,
  deleteManagedIdentity,
  getProxyToken,
  type IdTag,
  listTenants,
  putSetting,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestNetwork } from '#harness/test-network.ts'

const given = 'given.one.localhost' as IdTag

let network: TestNetwork
beforeAll(async () => {
  network = await TestNetwork.start(3)
})
afterAll(() => network[Symbol.asyncDispose]())

const home = () => network.server(0)
const owner = () => home().as(home().baseIdTag)

/** Gives the name to whoever reads this mailbox, who puts it on a server of the network. */
async function give(at: number, email: string): Promise<void> {
  await (await owner()).call(createManagedIdentity, { body: { idTag: given, email } })
  await home().settle()
  const mails = await readMails(home().running.services.config.mail.directory)
  const mail = mails.findLast(({ to }) => to === email)
  const refId = new URLSearchParams(new URL(linkIn(mail ?? { text: '' })).hash.slice(1)).get('token') ?? ''
  await home()
    .client(home().baseIdTag)
    .call(activateIdentity, { body: { refId: refId as never } })
  await network.server(at).createTenant(given)
  network.announce(at, given)
}

async function visitFrom(at: number) {
  const client = await network.server(at).as(given)
  const { data } = await client.call(getProxyToken, { query: { target: home().baseIdTag as IdTag } })
  return home().client(home().baseIdTag, data.token)
}

test('the next owner of a given name is no administrator because the one before was', async () => {
  const params = { name: 'idp.enabled' }
  await (await owner()).call(putSetting, { params, body: { value: true } })
  await give(1, 'first@example.org')
  const roles = ['user', 'SADM']
  await (await owner()).call(updateAdminProfile, { params: { idTag: given }, body: { roles } })
  const first = await visitFrom(1)
  expect((await first.call(listTenants, {})).data.length).toBeGreaterThan(0)

  const free = async () => (await owner()).call(deleteManagedIdentity, { params: { id: given } })
  await free()
  await network.settle()
  // The second call frees the name at once.
  await free()
  await network.settle()
  await network.pass(3_600_000, 600_000)
  await give(2, 'second@example.org')
  network.clock.advance(10_000)
  await expect((await visitFrom(2)).call(listTenants, {})).rejects.toMatchObject({
    status: 403,
    code: 'E-AUTH-FORBIDDEN',
  })
})
