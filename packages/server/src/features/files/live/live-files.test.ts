import { type SocketClose, socketCloses } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import type { HeldCredential } from '#features/accounts/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import { startHttpSite } from '#harness/http-site.ts'
import { SocketClient } from '#harness/socket-client.ts'
import { type Caller, guest } from '#infra/caller/index.ts'
import { createMemoryRateLimits, defaultRateLimits } from '#infra/http/index.ts'
import { openSockets } from '#infra/ws/index.ts'
import { Failure } from '#lib/failure.ts'
import type { FileVisit, LiveFile } from './live-file.ts'
import { LiveFiles } from './live-files.ts'

const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)
const unknownDocument = `c1~${'A'.repeat(43)}`

eachDialect('Files that sockets have open', (open) => {
  const openLab = filesLab(open)
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  /** A path on which nothing is spoken, and the credentials of those who come. */
  async function openLive(lab: FilesLab) {
    const { db, clock } = lab
    const callers = new Map<string, Caller>()
    const events: string[] = []
    const live = new LiveFiles({
      db,
      clock,
      logger: { error: (fields) => expect(fields).toBeUndefined() },
      emit: async (_, event) => void events.push(`${event.kind} ${event.fileId}`),
      noteRead: (read) => lab.reads.noteRead(read),
      async recall({ credential }) {
        const caller = callers.get(credential.sid ?? '')
        if (!caller || caller.kind === 'guest') throw new Failure('E-AUTH-UNAUTH')
        return caller
      },
    })
    const visits: FileVisit[] = []
    const files: LiveFile[] = []
    let decided = Promise.withResolvers<void>()
    const rateLimits = createMemoryRateLimits(clock, defaultRateLimits)
    const logger = { warn: () => undefined, error: (fields: object) => expect(fields).toBeUndefined() }
    const hooks = {
      findTenant: async () => alice,
      async authenticate({ bearer }: { bearer: string }) {
        const caller = callers.get(bearer)
        if (!caller) throw new Failure('E-AUTH-UNAUTH')
        const credential = { tenant: alice, credential: { sid: bearer } as HeldCredential['credential'] }
        return { caller, credential }
      },
      listEnded: async () => new Set<HeldCredential>(),
      listEndedTenants: async () => new Set<never>(),
    }
    const contract = {
      name: 'openTest',
      path: '/ws/test/{fileTp}/{fileId}',
      summary: 'A file that is open',
      auth: 'optional',
      scope: 'read:files',
      guests: true,
      frames: 'text',
      messagesPerMinute: 1000,
    } as const
    const sockets = openSockets<HeldCredential>({
      routes: [
        {
          contract,
          async open(visit) {
            const file = await live
              .open(visit, visit.params.fileTp as 'CRDT')
              .finally(() => decided.resolve())
            visits.push(visit)
            files.push(file)
            visit.socket.send('open')
            return { receive: () => file.noteWritten(), gone: () => file.close() }
          },
        },
      ],
      ...{ hooks, rateLimits, clock, logger },
    })
    const site = await startHttpSite([], { hooks, rawRoutes: sockets.rawRoutes, rateLimits, clock, logger })
    closers.push(async () => {
      await sockets.stop()
      await live.close()
      await site.close()
    })
    const connect = (caller: Caller, fileId: string, { fileTp = 'CRDT', query = '' } = {}) => {
      const bearer = `bearer-${callers.size}`
      if (caller !== guest) callers.set(bearer, caller)
      const token = caller === guest ? '' : `&token=${bearer}`
      const path = `/ws/test/${fileTp}/${encodeURIComponent(fileId)}?${query}${token}`
      return SocketClient.connect(site.port, alice.idTag, path)
    }
    return {
      ...{ live, callers, events, visits, files },
      /** A socket that is let in, and what it has open. */
      async enter(...asked: Parameters<typeof connect>) {
        const client = await connect(...asked)
        await client.until(1)
        return { client, file: files.at(-1) as LiveFile, visit: visits.at(-1) as FileVisit }
      },
      /** Why a socket is not let in. */
      async refuse(...asked: Parameters<typeof connect>): Promise<string> {
        decided = Promise.withResolvers<void>()
        const client = await connect(...asked)
        await decided.promise
        // What a client is to blame for is told after a second.
        clock.advance(1000)
        const { code, reason } = await client.closed
        return `${code} ${reason}`
      },
      async review(): Promise<SocketClose[]> {
        return [...(await live.review(visits)).values()]
      },
    }
  }

  async function make(lab: FilesLab, body: object = {}): Promise<string> {
    const made = await lab.send('POST', '/api/files', { as: owner, json: { fileTp: 'CRDT', ...body } })
    return made.json.data.fileId
  }
  const told = (why: SocketClose) => `${socketCloses[why].code} ${socketCloses[why].reason}`

  test('are let read and written by whoever may', async () => {
    const lab = await openLab()
    const { enter } = await openLive(lab)
    const fileId = await make(lab, { visibility: 'P' })
    const { file } = await enter(owner, fileId)
    expect([file.tenantId, file.fileId, file.idTag, file.canWrite]).toEqual([1, fileId, aliceTag, true])
    const reading = await enter(owner, fileId, { query: 'access=read' })
    expect(reading.file.canWrite).toBe(false)
    const narrow = await enter(identity(aliceTag, alice, { scope: 'read:files' }), fileId)
    expect(narrow.file.canWrite).toBe(false)
    const stranger = await enter(asBob, fileId)
    expect([stranger.file.idTag, stranger.file.canWrite]).toEqual([bobTag, false])
    const anybody = await enter(guest, fileId)
    expect([anybody.file.idTag, anybody.file.canWrite]).toEqual([undefined, false])
  })

  test('are refused in the same way whether they are there or not', async () => {
    const lab = await openLab()
    const { refuse } = await openLive(lab)
    const fileId = await make(lab)
    for (const asked of [fileId, unknownDocument, 'x']) {
      expect(await refuse(guest, asked)).toBe(told('unauthenticated'))
      expect(await refuse(asBob, asked)).toBe(told('notFound'))
    }
  })
})
