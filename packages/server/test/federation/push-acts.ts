import { type ActionId, createAction, type NewAction, subscribePush } from '@kith/protocol'
import { type PushedBrowser, PushService } from '#harness/push-service.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { connect } from './acts.ts'

/** Two servers, and a push service that both reach. */
export class PushTown implements AsyncDisposable {
  readonly network: TestNetwork
  readonly service: PushService

  private constructor(network: TestNetwork, service: PushService) {
    this.network = network
    this.service = service
  }

  static async start(): Promise<PushTown> {
    return new PushTown(await TestNetwork.start(2), await PushService.start())
  }

  async subscribe({ client }: Pick<Person, 'client'>, browser = this.service.browser()) {
    const { data } = await client.call(subscribePush, { body: { subscription: browser.subscription } })
    return { browser, id: data.id }
  }

  /** Makes an action, and lets it arrive and be pushed. */
  async say({ client }: Person, body: NewAction): Promise<ActionId> {
    const { data } = await client.call(createAction, { body })
    await this.network.settle()
    return data.actionId as ActionId
  }

  /** Two people who may write to each other, the second with a browser. */
  async pair() {
    const { alice, bob } = await this.network.cast('alice', 'bob')
    await connect(this.network, alice, bob)
    return { alice, bob, ...(await this.subscribe(bob)) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    await this.service[Symbol.asyncDispose]()
  }
}

export const letter = (to: Person, text: string): NewAction => ({
  type: 'MSG',
  audienceTag: to.idTag,
  content: { text },
})

export const messages = ({ pushed }: PushedBrowser) => pushed.map(({ message }) => message)
export const previews = ({ pushed }: PushedBrowser) =>
  pushed.map(({ message }) => (message as { preview: string }).preview)
