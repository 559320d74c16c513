import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Vault } from '#infra/keys/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { type AuthenticMessages, openAuthenticMessages } from './authentic-messages.ts'
import { Listeners, type NodeBus } from './node-bus.ts'

interface RedisBusOptions {
  readonly redisUrl: string
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'warn' | 'info'>
  readonly vault: Pick<Vault, 'mac'>
  /** Stands before every channel and key. */
  readonly prefix?: string
}

// Commands that Redis has not answered yet. What comes on top is dropped, as when Redis is away.
const maxUnanswered = 10_000
const answerTimeoutMs = 5_000
// The number is that of the form of messages: processes of another version are not heard, and not misunderstood.
const usualPrefix = 'kith:bus:2'
// Long enough for an operator's restart to be one line in the log, short enough to be back soon after it.
const longestRetryMs = 2_000

/** The bus of several processes that share a Redis. While it is away each process hears itself alone; nothing fails. */
export async function openRedisBus(options: RedisBusOptions): Promise<NodeBus> {
  const { Redis } = await import('ioredis')
  const bus = new RedisBus(options, (settings) => new Redis(options.redisUrl, settings))
  return bus
}

interface ConnectionSettings {
  readonly enableOfflineQueue: boolean
  readonly autoResubscribe: boolean
  readonly maxRetriesPerRequest: number
  readonly commandTimeout: number
  readonly connectTimeout: number
  readonly keepAlive: number
  readonly retryStrategy: (attempt: number) => number
}

const settings: ConnectionSettings = {
  enableOfflineQueue: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  commandTimeout: answerTimeoutMs,
  connectTimeout: 2_000,
  keepAlive: 10_000,
  retryStrategy: (attempt) => Math.min(50 * attempt, longestRetryMs),
}

class RedisBus implements NodeBus {
  readonly #listeners = new Listeners()
  readonly #commands: Redis
  readonly #subscriber: Redis
  readonly #prefix: string
  readonly #clock: Pick<Clock, 'now'>
  readonly #logger: RedisBusOptions['logger']
  readonly #messages: AuthenticMessages
  /** Tells its own messages, which come back from Redis, from those of others. */
  readonly #nodeId = randomBytes(9).toString('base64url')
  #unanswered = 0
  #hasComplained = false

  constructor(options: RedisBusOptions, connect: (settings: ConnectionSettings) => Redis) {
    this.#prefix = options.prefix ?? usualPrefix
    this.#clock = options.clock
    this.#logger = options.logger
    this.#messages = openAuthenticMessages(options.vault)
    this.#commands = connect(settings)
    this.#subscriber = connect(settings)
    watch(options.logger, this.#commands, this.#subscriber)
    let wasReady = false
    this.#subscriber.on('ready', () => {
      const { channels } = this.#listeners
      const joined = channels.length > 0 ? this.#join(...channels) : Promise.resolve()
      // Only when the channels are joined again nothing new can be missed.
      if (wasReady) void joined.then(() => this.#listeners.tellGap())
      wasReady = true
    })
    this.#subscriber.on('message', (name: string, text: string) => this.#receive(name, text))
  }

  publish(channel: string, message: string): void {
    this.#listeners.tell(channel, message)
    const text = this.#messages.write(channel, { node: this.#nodeId, message })
    this.#send(() => this.#commands.publish(this.#nameOf(channel), text))
  }

  subscribe(channel: string, listener: Parameters<NodeBus['subscribe']>[1]): () => void {
    if (this.#listeners.add(channel, listener)) void this.#join(channel)
    return () => {
      if (!this.#listeners.remove(channel, listener) || this.#subscriber.status !== 'ready') return
      this.#subscriber.unsubscribe(this.#nameOf(channel)).catch(() => undefined)
    }
  }

  mark(key: string, untilMs: number): void {
    const name = this.#nameOf(`mark:${key}`)
    const waitMs = Math.max(1, untilMs - this.#clock.now())
    // One member for each process; the whole key goes with the last of them, whatever becomes of the processes.
    this.#send(() =>
      this.#commands
        .multi()
        .zremrangebyscore(name, '-inf', this.#clock.now())
        .zadd(name, untilMs, this.#nodeId)
        .pexpire(name, waitMs)
        .exec(),
    )
  }

  unmark(key: string): void {
    this.#send(() => this.#commands.zrem(this.#nameOf(`mark:${key}`), this.#nodeId))
  }

  async isMarked(key: string): Promise<boolean> {
    if (this.#commands.status !== 'ready') return false
    const name = this.#nameOf(`mark:${key}`)
    const marks = this.#commands.zcount(name, `(${this.#clock.now()}`, '+inf')
    return await marks.then(
      (count) => count > 0,
      () => false,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#commands.disconnect()
    this.#subscriber.disconnect()
  }

  #nameOf(channel: string): string {
    return `${this.#prefix}:${channel}`
  }

  async #join(...channels: string[]): Promise<void> {
    // What is not joined now is joined when the connection is ready.
    if (this.#subscriber.status !== 'ready') return
    await this.#subscriber.subscribe(...channels.map((channel) => this.#nameOf(channel))).catch(() => {
      // Half a connection would be silent for ever.
      this.#subscriber.disconnect(true)
    })
  }

  #receive(name: string, text: string): void {
    const channel = name.slice(this.#prefix.length + 1)
    const sent = this.#messages.read(channel, text)
    if (sent?.node === this.#nodeId) return
    const trouble = sent
      ? this.#listeners.tellFromElsewhere(channel, sent.message)
      : new Error('no process with this master key has written it')
    if (trouble !== undefined) this.#complain(channel, trouble)
  }

  /** Once: whoever writes there could fill the log. */
  #complain(channel: string, err: unknown): void {
    if (this.#hasComplained) return
    this.#hasComplained = true
    this.#logger.warn({ channel, err }, 'messages in Redis are not for this server, or of another version')
  }

  #send(command: () => Promise<unknown>): void {
    if (this.#commands.status !== 'ready' || this.#unanswered >= maxUnanswered) return
    this.#unanswered += 1
    const settle = () => {
      this.#unanswered -= 1
    }
    command().then(settle, settle)
  }
}

/** Says once that Redis is away, and once that it is back. */
function watch(logger: Pick<Logger, 'warn' | 'info'>, ...connections: readonly Redis[]): void {
  let isAway = false
  for (const connection of connections) {
    connection.on('error', (error: Error) => {
      if (!isAway)
        logger.warn({ err: error }, 'the processes of this server do not hear each other while Redis is away')
      isAway = true
    })
    connection.on('ready', () => {
      if (isAway && connections.every(({ status }) => status === 'ready')) {
        isAway = false
        logger.info({}, 'the processes of this server hear each other again')
      }
    })
  }
}
