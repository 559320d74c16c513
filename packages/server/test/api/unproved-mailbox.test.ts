import {
  changeEmail,
  changePassword,
  createManagedIdentity,
  forgotPassword,
  getAuditLog,
  getEmail,
  getProxyToken,
  listReferences,
  putSetting,
  registerAccount,
  sendPasswordReset,
  setPassword,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkIn, readMails } from '#harness/mail-files.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'
import { canonicalMailbox } from '#lib/mail-address.ts'

const day = 24 * 3_600_000
const provider = 'names.localhost'
const tooMany = { status: 429, code: 'E-RATELIMIT' }

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(provider)
  const admin = await server.as(server.baseIdTag)
  await admin.call(putSetting, {
    params: { name: 'server.registration' },
    query: {},
    body: { value: 'open' },
  })
  const owner = await server.as(provider)
  await owner.call(putSetting, { params: { name: 'idp.enabled' }, query: {}, body: { value: true } })
})
afterAll(() => server.stop())

/** All mails to a mailbox, in whatever spelling, oldest first. */
async function mailsTo(address: string) {
  await server.settle()
  const mails = await readMails(server.running.services.config.mail.directory)
  return mails.filter(({ to }) => canonicalMailbox(to) === canonicalMailbox(address))
}
const subjectsTo = async (address: string) => (await mailsTo(address)).map(({ subject }) => subject)

let people = 0
const fresh = () => `p${++people}.localhost`

/** An account for whoever asks, at somebody else's address. */
async function registered(email: string) {
  // Registrations from one address are counted as well.
  server.clock.advance(120_000)
  const body = { type: 'domain', idTag: fresh() as never, email, token: '' } as const
  const { data } = await server.client(server.baseIdTag).call(registerAccount, { body })
  return { idTag: data.idTag, client: server.client(data.idTag, data.token) }
}

async function forget(idTag: string): Promise<void> {
  // So many requests of one address would be too many in a minute.
  server.clock.advance(2_100)
  await server.client(idTag).call(forgotPassword, { body: { idTag: idTag as never } })
  await server.settle()
}

async function withPassword(email: string) {
  const idTag = fresh()
  await server.createTenant(idTag, { email })
  return { idTag, client: server.client(idTag, await server.signIn(idTag)) }
}

async function proven(email: string) {
  const person = await withPassword(email)
  await forget(person.idTag)
  const [mail] = (await mailsTo(email)).slice(-1)
  const token = linkIn(mail ?? { text: '' }).split('#token=')[1] ?? ''
  await server.client(person.idTag).call(setPassword, { body: { token, password: testPassword } })
  return { ...person, client: server.client(person.idTag, await server.signIn(person.idTag)) }
}

/** Uses up what the mailbox gets. */
async function flood(address: string): Promise<void> {
  const [local, domain] = address.split('@')
  for (const tag of ['x', 'y', 'z', 'zz']) await registered(`${local}+${tag}@${domain}`)
}

const nameFor = (email: string) => ({ idTag: `${fresh().split('.')[0]}.${provider}` as never, email })

describe('a mailbox of which nobody has proved that they read it', () => {
  test('gets three mails over accounts and spellings, then one a day', async () => {
    const spellings = [
      'eve@x.example',
      'Eve@x.example',
      'e.ve@x.example',
      'eve+1@x.example',
      'E.V.E+2@x.example',
    ]
    const accounts = []
    for (const spelling of spellings) accounts.push(await registered(spelling))
    for (const { idTag } of accounts) await forget(idTag)
    expect(await mailsTo('eve@x.example')).toHaveLength(3)
    server.clock.advance(day)
    for (const { idTag } of accounts) await forget(idTag)
    expect(await mailsTo('eve@x.example')).toHaveLength(4)
  })

  test.each([
    ['a welcome', async (email: string) => void (await registered(email))],
    ['a reset', async (email: string) => forget((await withPassword(email)).idTag)],
    [
      'a reset by an administrator',
      async (email: string) => {
        const { idTag } = await withPassword(email)
        const admin = await server.as(server.baseIdTag)
        await admin.call(sendPasswordReset, { params: { idTag: idTag as never } })
      },
    ],
    [
      'a changed password',
      async (email: string) => {
        const { client } = await withPassword(email)
        const body = { currentPassword: testPassword, newPassword: 'another good one' }
        await client.call(changePassword, { body })
      },
    ],
    [
      'a new address',
      async (email: string) => {
        const { client } = await withPassword(`owner.${email}`)
        await client.call(changeEmail, { body: { email } })
      },
    ],
    [
      'a name of a provider',
      async (email: string) =>
        void (await (await server.as(provider)).call(createManagedIdentity, { body: nameFor(email) })),
    ],
  ])('gets no fourth one, be it %s', async (kind, send) => {
    const open = `open.${people}@y.example`
    await send(open)
    expect(await mailsTo(open)).toHaveLength(1)
    const full = `full.${people}@y.example`
    await flood(full)
    const isTold = ['a reset by an administrator', 'a new address'].includes(kind)
    if (isTold) await expect(send(full)).rejects.toMatchObject(tooMany)
    else await send(full)
    expect(await subjectsTo(full)).toEqual(Array(3).fill('Welcome: choose your password'))
  })

  test('that is refused as a new address leaves the one that was asked for before', async () => {
    const { client } = await withPassword('keeper@z.example')
    await client.call(changeEmail, { body: { email: 'first@z.example' } })
    await flood('second@z.example')
    await expect(client.call(changeEmail, { body: { email: 'second@z.example' } })).rejects.toMatchObject(
      tooMany,
    )
    expect((await client.call(getEmail)).data.pending?.address).toBe('first@z.example')
  })

  test('that is refused as a new address does not count the right password as a wrong one', async () => {
    const { client } = await withPassword('honest@z.example')
    await flood('full@z.example')
    const body = { email: 'full@z.example', password: testPassword }
    for (let turn = 0; turn < 12; turn += 1)
      await expect(client.call(changeEmail, { body })).rejects.toMatchObject(tooMany)
    const change = { currentPassword: testPassword, newPassword: 'another good one' }
    await expect(client.call(changePassword, { body: change })).resolves.toBeDefined()
  })

  test('is told of by nothing that the owner of a provider may read, and who is known finds the link', async () => {
    const [, owner] = [await flood('named@z.example'), await server.as(provider)]
    const { idTag } = await withPassword('friend@z.example')
    const made = { ...nameFor('named@z.example'), ownerIdTag: idTag as never }
    await owner.call(createManagedIdentity, { body: made })
    await owner.call(createManagedIdentity, { body: nameFor('roomy@z.example') })
    const { data } = await owner.call(getAuditLog)
    const [roomy, full] = data.map(({ details }) =>
      Object.keys(details ?? {}).filter((name) => name !== 'ownerTag'),
    )
    expect(full).toEqual(roomy)
    const { data: token } = await server.client(idTag, await server.signIn(idTag)).call(getProxyToken, {
      query: { target: provider as never },
    })
    const found = await server.client(provider, token.token).call(listReferences, { query: {} })
    expect(found.data).toMatchObject([{ type: 'idp-activate', resourceId: made.idTag }])
  })
})

describe('a mailbox that its owner has proved to read', () => {
  test('is not used up by others, and gets its own three resets an hour', async () => {
    const { idTag } = await proven('owner@w.example')
    await flood('owner@w.example')
    server.clock.advance(3_600_000)
    const before = (await mailsTo('owner@w.example')).length
    for (let turn = 0; turn < 3; turn += 1) await forget(idTag)
    expect(await mailsTo('owner@w.example')).toHaveLength(before + 3)
  })

  test('is told of a change of the address, whatever others have sent', async () => {
    const { client } = await proven('former@w.example')
    await flood('former@w.example')
    await client.call(changeEmail, { body: { email: 'later@w.example' } })
    const [mail] = await mailsTo('later@w.example')
    const [, token = ''] = linkIn(mail ?? { text: '' }).split('?token=')
    await server.request(new URL(linkIn(mail ?? { text: '' })).hostname, `/confirm-email?token=${token}`, {
      method: 'POST',
    })
    expect(await subjectsTo('former@w.example')).toEqual(
      expect.arrayContaining(['Your e-mail address is to be changed', 'Your e-mail address was changed']),
    )
  })
})
