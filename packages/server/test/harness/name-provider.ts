import type { Client } from '@kith/client'
import {
  activateIdentity,
  createManagedIdentity,
  getProxyToken,
  type IdTag,
  type ManagedIdentityView,
  putSetting,
} from '@kith/protocol'
import { purgeTenant } from '#app/purge/purge-tenant.ts'
import { linkIn, type ReadMail, readMails } from './mail-files.ts'
import { TestServer } from './test-server.ts'

/** A server with a provider of names, and people who ask it for some: alice, bob and carol. */
export class NameProvider implements AsyncDisposable {
  readonly idTag: string
  readonly server: TestServer

  private constructor(server: TestServer, idTag: string) {
    this.server = server
    this.idTag = idTag
  }

  static async start(
    env: Readonly<Record<string, string>> = {},
    idTag = 'names.localhost',
  ): Promise<NameProvider> {
    const made = new NameProvider(await TestServer.start({ env }), idTag)
    for (const each of [idTag, 'alice.localhost', 'bob.localhost', 'carol.localhost'])
      await made.server.createTenant(each)
    await made.set('idp.enabled', true)
    return made
  }

  /** Sets a setting of the provider. */
  async set(name: string, value: unknown): Promise<void> {
    const owner = await this.owner()
    await owner.call(putSetting, { params: { name }, body: { value } })
  }

  /** Sets a setting of the server. */
  async setForServer(name: string, value: unknown): Promise<void> {
    const admin = await this.server.as(this.server.baseIdTag)
    await admin.call(putSetting, { params: { name }, body: { value } })
  }

  owner(): Promise<Client> {
    return this.server.as(this.idTag)
  }

  /** A tenant of this server on the provider's host, as if they came from elsewhere. */
  async visit(idTag: string): Promise<Client> {
    const { data } = await (await this.server.as(idTag)).call(getProxyToken, {
      query: { target: this.idTag },
    })
    return this.server.client(this.idTag, data.token)
  }

  /** The provider's owner, or a visitor. */
  clientOf(idTag: string): Promise<Client> {
    return idTag === this.idTag ? this.owner() : this.visit(idTag)
  }

  /** A client with this bearer on the provider's host, or with none. */
  with(token?: string): Client {
    return this.server.client(this.idTag, token)
  }

  /** A pending name of alice's, for the reader of `mailbox`. */
  async register(label: string, wish: object = {}): Promise<ManagedIdentityView & { apiKey?: string }> {
    // Names of one address are counted; here they all come from one.
    this.server.clock.advance(120_000)
    const alice = await this.visit('alice.localhost')
    const body = { idTag: `${label}.${this.idTag}`, email: mailbox(label), ...wish }
    return (await alice.call(createManagedIdentity, { body: body as never })).data
  }

  /** The same, activated by its reader. */
  async registerActive(label: string, wish: object = {}) {
    const made = await this.register(label, wish)
    await this.activate(await this.refIdFor(mailbox(label)))
    return made
  }

  async activate(refId: string) {
    return (await this.with().call(activateIdentity, { body: { refId } })).data
  }

  async mailsTo(address: string): Promise<ReadMail[]> {
    await this.server.settle()
    const mails = await readMails(this.server.running.services.config.mail.directory)
    return mails.filter(({ to }) => to === address)
  }

  async refIdFor(address: string): Promise<string> {
    const mail = (await this.mailsTo(address)).at(-1)
    if (!mail) throw new Error(`nothing was mailed to ${address}`)
    return new URL(linkIn(mail)).hash.slice('#token='.length)
  }

  /** Removes a suspended tenant for good. */
  async purge(idTag: string): Promise<void> {
    const { services, features } = this.server.running
    const { tenants, emit } = features.identity
    const gone = await tenants.find(idTag as IdTag)
    if (gone?.suspendedAt === undefined) throw new Error(`${idTag} is not suspended`)
    const deps = { ...services, tenants, emit, pause: async () => {}, by: 'command line' } as const
    await purgeTenant(deps, { ...gone, suspendedAt: gone.suspendedAt })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop()
  }
}

export function mailbox(label: string): string {
  return `${label}@example.org`
}
