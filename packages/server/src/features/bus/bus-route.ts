import {
  type BusAck,
  type BusCommand,
  type BusCommandData,
  BusRequest,
  BusSubscription,
  busCommands,
  busSocket,
} from '@kith/protocol'
import { Compile, type Validator } from 'typebox/compile'
import type { HeldCredential } from '#features/accounts/index.ts'
import type { AnyCaller, Identified } from '#infra/caller/index.ts'
import { type Frame, SocketRefusal, type SocketRoute, type SocketVisit } from '#infra/ws/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Connection } from './connection.ts'
import type { Bus } from './open-bus.ts'

interface BusRouteDeps {
  readonly bus: Bus
  readonly clock: Pick<Clock, 'now'>
}

// A replay reads up to a thousand events.
const replaysPerMinute = 10

/** `/ws/bus`: the events of a tenant, for the devices of its account and for visitors. */
export function busRoute(deps: BusRouteDeps): SocketRoute<HeldCredential> {
  return {
    contract: busSocket,
    async open(visit) {
      const caller = admitted(visit.proof.caller)
      const since = visit.query.get('since')
      const connection = await deps.bus.join(visit, caller, { isReplaying: since !== null })
      const client = new BusClient(deps, connection)
      if (since !== null) {
        try {
          await client.begin(since)
        } catch (error) {
          deps.bus.leave(connection)
          throw error
        }
      }
      return {
        receive: (frame) => client.receive(frame),
        gone: () => deps.bus.leave(connection),
      }
    },
  }
}

/** The caller, if it is an identity whose token is not for single files. */
function admitted(caller: AnyCaller): Identified {
  if (caller.kind !== 'identity' || caller.scope?.some((item) => 'fileId' in item))
    throw new SocketRefusal('forbidden')
  return caller
}

type Answer = BusAck['data']
const ok: Answer = { status: 'ok' }
const refused = (message: string, more?: Pick<Answer, 'code' | 'seq'>): Answer => ({
  status: 'error',
  message,
  ...more,
})
const misfit = refused('the data does not fit this command')

class BusClient {
  readonly #deps: BusRouteDeps
  readonly #connection: Connection
  readonly #visit: SocketVisit<HeldCredential>
  #replays = { minute: 0, count: 0 }

  constructor(deps: BusRouteDeps, connection: Connection) {
    this.#deps = deps
    this.#connection = connection
    this.#visit = connection.visit
  }

  /** Answers `?since=` as a first `subscribe` that has no id. */
  async begin(since: string): Promise<void> {
    const isNumber = /^\d{1,15}$/.test(since)
    const answer = await this.#subscribe({ since: isNumber ? Number(since) : this.#connection.position })
    await this.#acknowledge(undefined, isNumber ? answer : misfit)
  }

  async receive(frame: Frame): Promise<void> {
    const message = parsed(String(frame))
    if (message === undefined) {
      this.#visit.socket.noteMistake()
      return
    }
    await this.#acknowledge(message.id, await this.#answer(message))
  }

  #acknowledge(id: unknown, data: Answer): Promise<void> {
    const isNamed = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
    const named = isNamed ? { id } : {}
    // Of this moment: more may have been told since it was asked.
    const seq = data.seq === undefined ? {} : { seq: this.#connection.position }
    const ack: BusAck = { ...named, cmd: 'ack', data: { ...data, ...seq } }
    return this.#visit.socket.answer(JSON.stringify(ack))
  }

  async #answer(message: Readonly<Record<string, unknown>>): Promise<Answer> {
    if (checkOf('subscription').Check(message)) return this.#subscribe({})
    if (!checkOf('request').Check(message)) return refused('a command has a cmd, and data that is an object')
    const { cmd, data = {} } = message as BusRequest
    if (!isCommand(cmd)) return refused('this command is unknown')
    if (!checkOf(cmd).Check(data)) return misfit
    switch (cmd) {
      case 'ping':
        return { status: 'pong' }
      case 'subscribe':
        return await this.#subscribe(data as BusCommandData<'subscribe'>)
      case 'auth':
        return await this.#authenticate(data as BusCommandData<'auth'>)
      case 'presence':
        this.#deps.bus.notePresence(this.#connection, (data as BusCommandData<'presence'>).state)
        return ok
    }
  }

  /** Events come in any case; with a number those that were missed come first. Whatever comes afterwards has a higher number
   * than `seq`, and nothing of that is missed. */
  async #subscribe({ since }: BusCommandData<'subscribe'>): Promise<Answer> {
    if (since !== undefined && !this.#takeReplay())
      return refused('too many replays: wait a minute', { code: 'rate' })
    const isComplete = since === undefined || (await this.#deps.bus.replay(this.#connection, since))
    const seq = this.#connection.position
    if (isComplete) return { status: 'ok', seq }
    return refused('events after this number are kept no longer: load what you show anew', {
      code: 'gap',
      seq,
    })
  }

  #takeReplay(): boolean {
    const minute = Math.floor(nowSecs(this.#deps.clock) / 60)
    if (minute !== this.#replays.minute) this.#replays = { minute, count: 0 }
    this.#replays.count += 1
    return this.#replays.count <= replaysPerMinute
  }

  /** Continues the connection of the same account with another token. */
  async #authenticate({ token }: BusCommandData<'auth'>): Promise<Answer> {
    try {
      const proof = await this.#visit.authenticate(token)
      const { idTag } = admitted(proof.caller)
      if (idTag !== this.#connection.idTag) return refused('this token is of another identity')
      this.#visit.renew(proof)
      return ok
    } catch (error) {
      if (error instanceof SocketRefusal || (error instanceof Failure && error.code === 'E-AUTH-FORBIDDEN'))
        return refused('this token is not for the bus')
      if (error instanceof Failure) return refused(error.message)
      throw error
    }
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function isCommand(cmd: string): cmd is BusCommand {
  return Object.hasOwn(busCommands, cmd)
}

// Compiled when they are first needed, and bounded by the commands.
const checks = new Map<string, Validator>()
const schemas = { ...busCommands, request: BusRequest, subscription: BusSubscription }

function checkOf(name: keyof typeof schemas): Validator {
  const known = checks.get(name)
  if (known) return known
  const made: Validator = Compile(schemas[name])
  checks.set(name, made)
  return made
}
