import type { RtdbAnswers, RtdbChange, RtdbDocument, RtdbRequestData } from '@kith/protocol'
import type { Frame } from '#infra/ws/index.ts'
import {
  applyTransaction,
  createIndex,
  getDocument,
  parsePath,
  RtdbFailure,
  runQuery,
} from '../engine/index.ts'
import { project } from '../engine/shape-documents.ts'
import type { Connection } from '../live/connection.ts'
import { type LiveDatabase, lockEvent } from '../live/live-database.ts'
import { assertUnlocked } from '../locks/assert-unlocked.ts'
import { stampedState } from '../presence/member-state.ts'
import { covers } from '../subscriptions/listener-index.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { FirstState, ViewSpec } from '../subscriptions/view.ts'
import type { ClientDeps } from './client-deps.ts'
import { failureAnswer } from './failure-answer.ts'
import { answerText, changeText, listAnswerText, listText } from './frames.ts'
import { renewProof } from './renew-proof.ts'
import {
  isLongRequest,
  longRequestOfReader,
  type ParsedRequest,
  parseLongRequest,
  parseRequest,
  type RequestId,
  type RtdbRequest,
} from './request.ts'

// A page has some dozens. Each write looks for the subscriptions that it concerns: ten thousand of a hostile client would slow
// down all others.
const subscriptionsPerSocket = 1000
// A guest may open any number of sockets.
const subscriptionsOfGuest = 100

/** Speaks the protocol of docs/protocol/realtime.md, `/ws/rtdb`, with one client. */
export class DatabaseClient {
  readonly #deps: ClientDeps
  readonly #connection: Connection
  readonly #live: LiveDatabase
  readonly #gone = new AbortController()
  /** Resolves when the connection has taken the last answer. */
  #answered: Promise<void> = Promise.resolve()

  constructor(deps: ClientDeps, connection: Connection, live: LiveDatabase) {
    this.#deps = deps
    this.#connection = connection
    this.#live = live
  }

  async receive(frame: Frame): Promise<void> {
    const text = String(frame)
    if (isLongRequest(text)) await this.#receiveLong(text)
    else await this.#handle(parseRequest(text))
    // Awaited here, where the values of the request are no longer referenced: a slow reader must not hold them.
    await this.#answered
  }

  /** The socket is gone. */
  end(): void {
    this.#gone.abort()
  }

  async #receiveLong(text: string): Promise<void> {
    const { file, visit } = this.#connection
    if (!file.canWrite) return await this.#handle(longRequestOfReader)
    const outcome = await this.#deps.longRequests.run(file.tenantId, this.#gone.signal, async () =>
      this.#handle(await parseLongRequest(text)),
    )
    if (outcome === 'full') visit.socket.close('overloaded')
  }

  async #handle(parsed: ParsedRequest): Promise<void> {
    if (parsed.kind === 'noise') {
      this.#connection.visit.socket.noteMistake()
      return
    }
    const { id } = parsed
    try {
      if (parsed.kind === 'malformed') throw new RtdbFailure(400, parsed.message)
      await this.#do(id, parsed.request)
    } catch (error) {
      const { answer, isUnexpected } = failureAnswer(error)
      if (isUnexpected) this.#deps.logger.error({ err: error }, 'a request to a database failed')
      this.#answered = this.#answer('error', id, answer)
    }
  }

  #do(id: RequestId, { type, data }: RtdbRequest): Promise<void> {
    switch (type) {
      case 'ping':
        return this.#answer('pong', id, {})
      case 'get':
        return this.#get(id, data)
      case 'query':
        return this.#query(id, data)
      case 'subscribe':
        return this.#subscribe(id, data)
      case 'unsubscribe':
        return this.#unsubscribe(id, data)
      case 'transaction':
        return this.#transact(id, data)
      case 'createIndex':
        return this.#createIndex(id, data)
      case 'lock':
        return this.#lock(id, data)
      case 'unlock':
        return this.#unlock(id, data)
      case 'presence':
        return this.#say(id, data)
      case 'auth':
        return this.#renew(id, data)
    }
  }

  #answer<Type extends keyof RtdbAnswers>(
    type: Type,
    id: RequestId,
    members: RtdbAnswers[Type],
  ): Promise<void> {
    return this.#connection.visit.socket.answer(answerText(type, id, members))
  }

  async #get(id: RequestId, { path, select }: RtdbRequestData<'get'>): Promise<void> {
    const { text } = parsePath(path, 'document')
    const { document } = await getDocument(this.#deps.engine, this.#live.key, text)
    await this.#answer('getResult', id, { data: document ? project(select, document) : null })
  }

  async #query(id: RequestId, asked: RtdbRequestData<'query'>): Promise<void> {
    const { data } = await runQuery(this.#deps.engine, this.#live.key, asked)
    await this.#connection.visit.socket.answer(listAnswerText('queryResult', id, await listText(data)))
  }

  async #subscribe(id: RequestId, asked: RtdbRequestData<'subscribe'>): Promise<void> {
    const { subscriptions } = this.#connection
    const spec = viewSpec(asked)
    const most = this.#connection.file.idTag === undefined ? subscriptionsOfGuest : subscriptionsPerSocket
    if (subscriptions.size >= most)
      throw new RtdbFailure(429, `this socket has at most ${most} subscriptions`)
    const subscription = this.#live.subscriptions.open(this.#connection, spec)
    // Registered before the first state is read, so that a disconnection meanwhile ends it.
    subscriptions.set(subscription.id, subscription)
    try {
      const first = await subscription.view.begin()
      const shown = { first, list: await listText(first.data) }
      await this.#begin(id, subscription, shown)
    } catch (error) {
      this.#close(subscription)
      throw error
    }
  }

  /** Nothing is awaited between the first frame and the last: events that came meanwhile follow, and none goes between. */
  async #begin(
    id: RequestId,
    subscription: Subscription,
    { first, list }: { readonly first: FirstState; readonly list: string },
  ): Promise<void> {
    const { socket } = this.#connection.visit
    const { path } = subscription.view
    const tell = (event: string) => socket.answer(changeText(subscription.id, event))
    const answers = [this.#answer('subscribeResult', id, { subscriptionId: subscription.id })]
    if (first.document) answers.push(tell(createdEvent(path, first.document)))
    answers.push(tell(`{"action":"ready","path":${JSON.stringify(path)},"data":${list}}`))
    for (const lock of this.#live.locks.known)
      if (covers(subscription.view.spec, lock.path)) answers.push(tell(lockEvent({ kind: 'lock', lock })))
    subscription.start({ seq: first.seq, lockEvents: this.#live.lockEvents })
    await Promise.all(answers)
  }

  async #unsubscribe(id: RequestId, { subscriptionId }: RtdbRequestData<'unsubscribe'>): Promise<void> {
    const subscription = this.#connection.subscriptions.get(subscriptionId)
    if (subscription) this.#close(subscription)
    await this.#answer('unsubscribeResult', id, {})
  }

  #close(subscription: Subscription): void {
    this.#connection.subscriptions.delete(subscription.id)
    this.#live.subscriptions.close(subscription)
  }

  async #transact(id: RequestId, { operations, txId }: RtdbRequestData<'transaction'>): Promise<void> {
    this.#assertMayWrite()
    const { file, holder: account, connId } = this.#connection
    await this.#answerFirst(async () => {
      const applied = await applyTransaction(this.#deps.engine, this.#live.key, {
        ...{ operations, txId, account, connId },
        assertUnlocked: (tx, paths) =>
          assertUnlocked(this.#deps.engine, tx, { fileId: file.fileId, paths, holder: account }),
      })
      this.#answered = this.#answer('transactionResult', id, { results: applied.results })
      this.#connection.release()
      this.#live.applied(applied)
      if (applied.changes.length > 0) file.noteWritten()
    })
  }

  async #createIndex(id: RequestId, { path, field }: RtdbRequestData<'createIndex'>): Promise<void> {
    this.#assertMayWrite()
    await createIndex(this.#deps.engine, this.#live.key, { path, field })
    await this.#answer('createIndexResult', id, {})
  }

  async #lock(id: RequestId, { path, mode = 'soft' }: RtdbRequestData<'lock'>): Promise<void> {
    this.#assertMayWrite()
    const { holder, connId, visit } = this.#connection
    this.#connection.hasLocked = true
    const { text } = parsePath(path, 'any')
    await this.#answerFirst(async () => {
      const result = await this.#live.locks.lock({ path: text, holder, connId }, mode)
      // The connection ended meanwhile, and its locks were released before this one was taken.
      if (!visit.socket.isOpen) await this.#live.locks.release(connId)
      this.#answered = this.#answer('lockResult', id, result)
    })
  }

  async #unlock(id: RequestId, { path }: RtdbRequestData<'unlock'>): Promise<void> {
    this.#assertMayWrite()
    const { holder } = this.#connection
    const { text } = parsePath(path, 'any')
    await this.#answerFirst(async () => {
      await this.#live.locks.unlock({ path: text, holder })
      this.#answered = this.#answer('unlockResult', id, {})
    })
  }

  /** Holds back events, those that the request causes among them, until it is answered. */
  async #answerFirst(work: () => Promise<void>): Promise<void> {
    this.#connection.hold()
    try {
      await work()
    } finally {
      this.#connection.release()
    }
  }

  async #say(id: RequestId, { state }: RtdbRequestData<'presence'>): Promise<void> {
    const { connId, file } = this.#connection
    const stamped = state === null ? null : stampedState(state, file.idTag)
    const { isThrottled } = this.#live.presence.say(connId, stamped)
    await this.#answer('presenceResult', id, isThrottled ? { throttled: true } : {})
  }

  async #renew(id: RequestId, { token }: RtdbRequestData<'auth'>): Promise<void> {
    await renewProof(this.#deps.files, this.#connection, token)
    await this.#answer('authResult', id, {})
  }

  #assertMayWrite(): void {
    if (!this.#connection.file.canWrite) throw new RtdbFailure(403, 'this socket may not change the database')
  }
}

function createdEvent(path: string, data: RtdbDocument): string {
  return JSON.stringify({ action: 'create', path, data } satisfies RtdbChange)
}

function viewSpec(asked: RtdbRequestData<'subscribe'>): ViewSpec {
  const { path, filter, select, aggregate, scope = 'subtree' } = asked
  for (const option of ['sort', 'limit'])
    if (Object.hasOwn(asked, option)) throw new RtdbFailure(400, `a subscription takes no ${option}`)
  // Like a query, an aggregate is over the documents directly in a collection.
  const { text } = parsePath(path, aggregate ? 'collection' : 'any')
  return { path: text, scope: aggregate ? 'children' : scope, filter, select, aggregate }
}
